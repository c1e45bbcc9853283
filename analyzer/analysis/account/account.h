/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.h - where the time of the thread that trains went: the one account that all else is
 * a part of.
 *
 * It runs from the return of the thread's first next() to the end of its last step. Each
 * nanosecond of it is either
 * - waiting: inside the outermost iter(), next() or end of any loader. Of a batch's wait
 *   - not ready: until the batch was finished (without workers: the load itself),
 *   - receiving: finished, and not yet in hand, and then freeing the batch before; nothing is
 *     received without workers;
 *   - sampling: the sampler chose which samples a batch has, in the training's thread;
 *   - epoch start: making an iterator, and the waits for the first W batches of an epoch (W
 *     workers; 1 if unknown, none without workers), which no step can overlap;
 *   - epoch end: the call that ends an epoch, workers being shut down;
 *   a next() that raises is part of the next batch's wait, or of the next epoch's start;
 * - or step: the rest.
 *
 * The stall ratio is waiting / (waiting + step). What comes before the first batch is start-up,
 * once a program, and in no ratio: a process that becomes another program by execve() starts again.
 *
 * By the GPU's clock a part is the time for which the GPU idled in it; the rest is step. A batch's
 * idle time is divided as its wait is. What the GPU did while an iterator was made or ended is not
 * known, and counts as idle. Batches without a GPU time are left out.
 */
#pragma once

#include "analysis/account/series.h"

enum account_part {
	ACCOUNT_NOT_READY,
	ACCOUNT_RECEIVING,
	ACCOUNT_SAMPLING, /* NAN: not seen, and in the two before */
	ACCOUNT_EPOCH_START,
	ACCOUNT_EPOCH_END,
	ACCOUNT_PART_MAX
};

struct account {
	double part_ns[ACCOUNT_PART_MAX]; /* NAN: not known, though part of wait_ns */
	double share[ACCOUNT_PART_MAX];   /* parts of time_ns, whose sum is the ratio */
	double wait_ns;
	double step_ns;
	double time_ns;    /* wait_ns + step_ns */
	double ratio;      /* wait / time; NAN: nothing is known */
	double startup_ns; /* NAN: unknown */
	double unseen_ns;  /* batches that the GPU's clock leaves out */
	size_t count;      /* batches in it */
	size_t life_count; /* of programs that the process was; 0: not asked for */
};

/* Nothing yet. */
#define ACCOUNT_EMPTY                                                                              \
	((struct account){.part_ns = {[ACCOUNT_SAMPLING] = NAN}, .startup_ns = NAN})

/* When a thread trains, by CLOCK_MONOTONIC; SERIES_UNKNOWN: for as long as the series says. */
struct account_span {
	int64_t begin_ns;
	int64_t end_ns;
};

/* A batch's wait by the host's clock; their sum is the wait. */
struct account_wait {
	double not_ready_ns, receiving_ns; /* NAN: not known which of the two it was */
	double sampling_ns;                /* NAN: not known, and in the others */
};

/* `handover_ns`: of the wait, after the batch was finished; NAN: not known, as `sample_ns`. */
struct account_wait account_divide(int64_t workers, double wait_ns, double handover_ns,
				   double sample_ns);

/* The first W of an epoch, whose waits are its start; `workers` < 0: unknown. */
static inline int64_t account_start_count(int64_t workers)
{
	return workers < 0 ? 1 : workers;
}

/*
 * A loader's own loop: its waits, and what passed between them within its epochs; waits for other
 * loaders are part of its steps. Where the readiness of some batches is known, `theta_ns` parts the
 * waits for the others.
 */
void account_of_loader(const struct batch_series *series, bool by_gpu, double theta_ns,
		       struct account *ret);

/*
 * A thread's: its loaders' waits within the span, each added once, and the rest of the span. Starts
 * from ACCOUNT_EMPTY. Where the waits do not fit into the span the records contradict each
 * other: -ERANGE, and no account.
 */
void account_add(struct account *thread, const struct batch_series *series, bool by_gpu,
		 double theta_ns, const struct account_span *span);
int account_close(struct account *thread, const struct account_span *span);

/* The waiting before an epoch's first batch is asked for, as far as it counts. */
struct account_restart {
	double start_ns; /* making the iterator */
	double end_ns;   /* the end of the epoch before */
};

/* Of the series' epochs from *next on and up to this one; moves *next behind them. */
struct account_restart account_restart(const struct batch_series *series, size_t *next,
				       int32_t epoch);

/* As JSON has them. */
extern const char *const account_part_names[ACCOUNT_PART_MAX];
