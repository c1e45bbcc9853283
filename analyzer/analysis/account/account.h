/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.h - says where the time of the training thread went. All other figures of a report divide
 * parts of this account further.
 *
 * The account runs from the return of the thread's first next() to the end of its last step. Each
 * nanosecond of it is either a step or waiting. Waiting is the time inside iter(), next() or the
 * end of any loader; of nested calls only the outermost counts. The parts of waiting are
 * - not ready: from the request until the batch was finished (without workers: the load itself);
 * - receiving: from then until next() returns the batch, plus freeing the batch before; 0 without
 *   workers;
 * - sampling: the sampler, run by the training's thread, chose the samples of a later batch;
 * - epoch start: making an iterator, and the waits for the first W batches of an epoch (W workers;
 *   1 if unknown, none without workers), which no step can overlap;
 * - epoch end: the call that ends an epoch and shuts down workers.
 * A next() that raises is part of the next batch's wait, or of the next epoch's start.
 *
 * The stall ratio is waiting / (waiting + step). Time before the first batch is start-up and counts
 * in no ratio. A process that becomes another program by execve() starts up again.
 *
 * If the GPU's clock is used, only the time for which the GPU idled during a wait counts as
 * waiting; the rest of the wait counts as a step. A batch's idle time is divided into the parts in
 * the same proportions as its wait. What the GPU did while an iterator was made or ended is not
 * known, so it counts as idle then. Batches whose GPU idle time is unknown are left out.
 */
#pragma once

#include "analysis/account/series.h"

enum account_part {
	ACCOUNT_NOT_READY,
	ACCOUNT_RECEIVING,
	ACCOUNT_SAMPLING, /* NAN: not observed; its time is then in not ready and receiving */
	ACCOUNT_EPOCH_START,
	ACCOUNT_EPOCH_END,
	ACCOUNT_PART_MAX
};

struct account {
	double part_ns[ACCOUNT_PART_MAX]; /* NAN: unknown; its time is still in wait_ns */
	double share[ACCOUNT_PART_MAX]; /* part_ns / time_ns; the parts' shares add up to `ratio` */
	double wait_ns;
	double step_ns;
	double time_ns;    /* wait_ns + step_ns */
	double ratio;      /* wait_ns / time_ns; NAN: no time is known */
	double startup_ns; /* NAN: unknown */
	/* Part of epoch start in which samples were chosen while iterators were made; NAN: not
	 * observed. */
	double start_sampling_ns;
	double unseen_ns;  /* time of the batches left out for lack of a GPU idle time */
	size_t count;      /* batches whose wait is in wait_ns */
	size_t life_count; /* programs that the process was, by execve(); 0: not counted */
};

/* An account without any batch. */
#define ACCOUNT_EMPTY                                                                              \
	((struct account){.part_ns = {[ACCOUNT_SAMPLING] = NAN}, .startup_ns = NAN,         \
			  .start_sampling_ns = NAN})

/* When a thread trained, by CLOCK_MONOTONIC. If UNKNOWN, all epochs' starts but the first count. */
struct account_span {
	int64_t begin_ns;
	int64_t end_ns;
};

/* The parts of one batch's wait by the host's clock; they add up to the wait. */
struct account_wait {
	double not_ready_ns, receiving_ns; /* NAN: unknown how the wait divides into these two */
	double sampling_ns;                /* NAN: unknown; its time is in the other two */
};

/*
 * Divides the wait of one batch. `handover_ns` is the part of the wait that came after the batch
 * was finished, `sample_ns` the part in which the sampler ran; NAN: unknown.
 */
struct account_wait account_divide(int64_t workers, double wait_ns, double handover_ns,
				   double sample_ns);

/* Returns how many first waits of an epoch count as its start; `workers` < 0: unknown. */
static inline int64_t account_start_count(int64_t workers)
{
	return workers < 0 ? 1 : workers;
}

/*
 * Computes the account of one loader's loop, as if its thread used no other loader: waits for other
 * loaders count as steps. If the readiness of a batch is unknown but that of other batches is
 * known, its wait counts as not ready from `theta_ns` on, and as receiving below.
 */
void account_of_loader(const struct batch_series *series, bool by_gpu, double theta_ns,
		       struct account *ret);

/*
 * Computes the account of a thread: the waits of all its loaders within the span; the rest of the
 * span is steps. Start from ACCOUNT_EMPTY, call account_add() once for each loader, then
 * account_close(), which returns -ERANGE and computes nothing if the waits are longer than the
 * span, that is, if the records contradict each other.
 */
void account_add(struct account *thread, const struct batch_series *series, bool by_gpu,
		 double theta_ns, const struct account_span *span);
int account_close(struct account *thread, const struct account_span *span);

/* The part of an epoch's start that comes before the request for its first batch; sums in ns. */
struct account_restart {
	double start_ns; /* making the epoch's iterator */
	double end_ns;   /* ending the epoch before */
};

/* Sums the epochs with index *next and up, up to number `epoch`, and moves *next behind them. */
struct account_restart account_restart(const struct batch_series *series, size_t *next,
				       int32_t epoch);

/* Names of the parts in JSON. */
extern const char *const account_part_names[ACCOUNT_PART_MAX];
