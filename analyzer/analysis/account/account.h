/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.h - where the time of the training thread went. Every other figure is a part of this
 * account.
 *
 * The account runs from the return of the thread's first next() to the end of its last step. Each
 * nanosecond of it is either a step or waiting, which is the time inside the outermost iter(),
 * next() or end of any loader. The parts of waiting are
 * - not ready: until the batch was finished (without workers: the load itself);
 * - receiving: until a finished batch is in hand and the batch before is freed; nothing is received
 *   without workers;
 * - sampling: the sampler chose which samples a batch has, in the training's thread;
 * - epoch start: making an iterator, and the waits for the first W batches of an epoch (W
 *   workers; 1 if unknown, none without workers), which no step can overlap;
 * - epoch end: the call that ends an epoch and shuts down workers.
 * A next() that raises is part of the next batch's wait, or of the next epoch's start.
 *
 * The stall ratio is waiting / (waiting + step). Time before the first batch is start-up and counts
 * in no ratio. A process that becomes another program by execve() starts up again.
 *
 * By the GPU's clock a part is the time for which the GPU idled in it; the rest is step. A batch's
 * idle time is divided as its wait is. While an iterator was made or ended the GPU's work is not
 * known, and the GPU counts as idle. Batches without a GPU time are left out.
 */
#pragma once

#include "analysis/account/series.h"

enum account_part {
	ACCOUNT_NOT_READY,
	ACCOUNT_RECEIVING,
	ACCOUNT_SAMPLING, /* NAN: not observed; its time is then in the two parts above */
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
	double unseen_ns;  /* time in batches that the GPU's clock leaves out */
	size_t count;      /* batches whose wait is in wait_ns */
	size_t life_count; /* programs that the process ran in turn; 0: not counted */
};

/* An account without any batch. */
#define ACCOUNT_EMPTY                                                                              \
	((struct account){.part_ns = {[ACCOUNT_SAMPLING] = NAN}, .startup_ns = NAN})

/* When a thread trained, by CLOCK_MONOTONIC. If UNKNOWN, all epoch starts but the first count. */
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
 * Divides a wait. `handover_ns` is its part after the batch was finished; NAN: unknown. So is
 * `sample_ns`.
 */
struct account_wait account_divide(int64_t workers, double wait_ns, double handover_ns,
				   double sample_ns);

/* Returns how many first waits of an epoch count as its start; `workers` < 0: unknown. */
static inline int64_t account_start_count(int64_t workers)
{
	return workers < 0 ? 1 : workers;
}

/*
 * Computes the account of one loader's own loop: its waits, and the time between them within its
 * epochs. Waits for other loaders count as steps here. A wait of unknown readiness counts as not
 * ready if it took `theta_ns` or longer and the readiness of other batches is known.
 */
void account_of_loader(const struct batch_series *series, bool by_gpu, double theta_ns,
		       struct account *ret);

/*
 * Computes the account of a thread: its loaders' waits within the span, and the rest of the span as
 * steps. account_add() adds each loader once, starting from ACCOUNT_EMPTY. account_close() returns
 * -ERANGE, and makes no account, if the waits do not fit into the span: the records contradict each
 * other.
 */
void account_add(struct account *thread, const struct batch_series *series, bool by_gpu,
		 double theta_ns, const struct account_span *span);
int account_close(struct account *thread, const struct account_span *span);

/* The part of an epoch's start that comes before the request for its first batch. */
struct account_restart {
	double start_ns; /* making the epoch's iterator */
	double end_ns;   /* ending the epoch before */
};

/* Sums the epochs from index *next up to number `epoch`, and moves *next behind them. */
struct account_restart account_restart(const struct batch_series *series, size_t *next,
				       int32_t epoch);

/* Names of the parts in JSON. */
extern const char *const account_part_names[ACCOUNT_PART_MAX];
