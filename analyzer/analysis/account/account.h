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
	ACCOUNT_SAMPLING, /* NAN: not seen; its time is then in the two parts above */
	ACCOUNT_EPOCH_START,
	ACCOUNT_EPOCH_END,
	ACCOUNT_PART_MAX
};

struct account {
	double part_ns[ACCOUNT_PART_MAX]; /* NAN: unknown; its time is still in wait_ns */
	double share[ACCOUNT_PART_MAX];   /* part_ns / time_ns; they add up to `ratio` */
	double wait_ns;
	double step_ns;
	double time_ns;    /* wait_ns + step_ns */
	double ratio;      /* wait_ns / time_ns; NAN: no time is known */
	double startup_ns; /* NAN: unknown */
	double unseen_ns;  /* time in batches that the GPU's clock leaves out */
	size_t count;      /* batches whose wait counts */
	size_t life_count; /* programs that the process ran in turn; 0: not asked for */
};

/* An account without any batch. */
#define ACCOUNT_EMPTY                                                                              \
	((struct account){.part_ns = {[ACCOUNT_SAMPLING] = NAN}, .startup_ns = NAN})

/* When a thread trains, by CLOCK_MONOTONIC. UNKNOWN: epochs count by their order. */
struct account_span {
	int64_t begin_ns;
	int64_t end_ns;
};

/* The parts of one batch's wait by the host's clock; they add up to the wait. */
struct account_wait {
	double not_ready_ns, receiving_ns; /* NAN: unknown which of these two the time was */
	double sampling_ns;                /* NAN: unknown; its time is in the other two */
};

/*
 * `handover_ns`: the part of the wait after the batch was finished; NAN: unknown, as `sample_ns`.
 */
struct account_wait account_divide(int64_t workers, double wait_ns, double handover_ns,
				   double sample_ns);

/* How many first batches of an epoch have waits that count as its start; `workers` < 0: unknown. */
static inline int64_t account_start_count(int64_t workers)
{
	return workers < 0 ? 1 : workers;
}

/*
 * The account of one loader's own loop: its waits, and the time between them within its epochs.
 * Waits for other loaders count as steps here. A wait of unknown readiness counts as not ready from
 * `theta_ns` on, if the readiness of other batches is known.
 */
void account_of_loader(const struct batch_series *series, bool by_gpu, double theta_ns,
		       struct account *ret);

/*
 * The account of a thread: its loaders' waits within the span, and the rest of the span as steps.
 * account_add() adds each loader once, starting from ACCOUNT_EMPTY. account_close() gives -ERANGE,
 * and no account, where the waits do not fit into the span: the records contradict each other.
 */
void account_add(struct account *thread, const struct batch_series *series, bool by_gpu,
		 double theta_ns, const struct account_span *span);
int account_close(struct account *thread, const struct account_span *span);

/* Waiting that counts and comes before the request for an epoch's first batch. */
struct account_restart {
	double start_ns; /* making the iterator */
	double end_ns;   /* the end of the epoch before */
};

/* Sums the epochs from index *next up to the one numbered `epoch`, and moves *next behind them. */
struct account_restart account_restart(const struct batch_series *series, size_t *next,
				       int32_t epoch);

/* Names of the parts in JSON. */
extern const char *const account_part_names[ACCOUNT_PART_MAX];
