/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.h - says where the time of the training thread went.
 *
 * The account runs from the return of the thread's first next() to the end of its last step. Each
 * nanosecond is either step or waiting: the time inside iter(), next() or the end of any loader
 * (only the outermost of nested calls). The parts of waiting are
 *
 * - not ready: from the request until the batch was finished (without workers: the load itself);
 * - receiving: from then until next() returns, plus freeing the batch before; 0 without workers;
 * - sampling: the training's thread chose the samples of a later batch;
 * - epoch start: making an iterator, and the waits for the first W batches of an epoch (W workers;
 *   1 if unknown, none without workers), which no step can overlap;
 * - epoch end: the call that ends an epoch and shuts down workers.
 *
 * A next() that raises is part of the next batch's wait, or of the next epoch's start.
 *
 * Time before the first batch is start-up and counts in no ratio. A process that becomes another
 * program by execve() starts up again.
 *
 * By the GPU's clock, only the GPU's idle time during a wait counts as waiting, divided into the
 * parts in the same proportions as the wait; the rest counts as a step. While an iterator is made
 * or ended, the GPU counts as idle. Batches without a known idle time are left out.
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
	double share[ACCOUNT_PART_MAX];   /* part_ns / time_ns; the shares add up to `ratio` */
	double wait_ns;
	double step_ns;
	double time_ns;
	double ratio;      /* wait_ns / time_ns; NAN: no time is known */
	double startup_ns; /* NAN: unknown */
	/* Part of epoch start: choosing samples in iter(); NAN: not observed. */
	double start_sampling_ns;
	double unseen_ns; /* batches left out for lack of a GPU idle time */
	size_t count;
	size_t life_count; /* number of programs, each begun by execve(); 0: not counted */
};

#define ACCOUNT_EMPTY                                                                              \
	((struct account){.part_ns = {[ACCOUNT_SAMPLING] = NAN}, .startup_ns = NAN,         \
			  .start_sampling_ns = NAN})

/* When a thread trained, by CLOCK_MONOTONIC. If UNKNOWN, all epochs' starts but the first count. */
struct account_span {
	int64_t begin_ns;
	int64_t end_ns;
};

/* Parts of one batch's wait by the host's clock. */
struct account_wait {
	double not_ready_ns, receiving_ns; /* NAN: how the wait divides is unknown */
	double sampling_ns;                /* NAN: unknown; the other two then include it */
};

/* The sampler ran for `sample_ns`; `handover_ns` is what follows the batch's end. NAN: unknown. */
struct account_wait account_divide(int64_t workers, double wait_ns, double handover_ns,
				   double sample_ns);

/* Returns how many first waits of an epoch are its start. `workers` < 0: unknown. */
static inline int64_t account_start_count(int64_t workers)
{
	return workers < 0 ? 1 : workers;
}

/*
 * `by_gpu`: the GPU's idle time in a wait counts instead of the wait. If it is unknown whether a
 * wait's batch was ready, but known for others, then the wait is "not ready" if it takes `theta_ns`
 * or more, else "receiving".
 */
void account_of_loader(const struct batch_series *series, bool by_gpu, double theta_ns,
		       struct account *ret);

/* Start from ACCOUNT_EMPTY; close after all loaders. -ERANGE: waits exceed the span. */
void account_add(struct account *thread, const struct batch_series *series, bool by_gpu,
		 double theta_ns, const struct account_span *span);
int account_close(struct account *thread, const struct account_span *span);

/* Time between an epoch's last step and the next one's first request; sums in ns. */
struct account_restart {
	double start_ns;
	double end_ns;
};

/* Sums the epochs from *next up to number `epoch`; moves *next behind them. */
struct account_restart account_restart(const struct batch_series *series, size_t *next,
				       int32_t epoch);

/* Names in JSON. */
extern const char *const account_part_names[ACCOUNT_PART_MAX];
