/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.h - says where the time of the training thread went.
 *
 * The account runs from the return of the thread's first next() to the end of its last step. Each
 * nanosecond is either step or waiting: the time inside iter(), next() or the end of any loader
 * (only the outermost of nested calls). The parts of waiting are
 *
 * - not ready: from the request until the batch was finished (without workers: the load itself);
 * - receiving: from then until next() returns, and freeing the previous batch; 0 without workers;
 * - sampling: the training's thread chose the samples of a later batch;
 * - epoch start: making an iterator, and the waits for an epoch's first W batches, whose loads no
 *   step can overlap. W is the number of workers: 1 if unknown, 0 without workers;
 * - epoch end: the call that ends an epoch and shuts down workers.
 *
 * A next() that raises an exception counts in the next batch's wait, or in the next epoch's start.
 *
 * Time before the first batch is start-up and counts in no ratio. A process that becomes another
 * program by execve() starts up again.
 *
 * By the GPU's clock, a wait counts only as long as the GPU was idle in it. This idle time is
 * divided into the parts in the same proportions as the wait; the rest of the wait counts as a
 * step. While an iterator is made or ended, the GPU counts as idle. Batches without a known idle
 * time are left out.
 */
#pragma once

#include "analysis/account/series.h"

enum account_part {
	ACCOUNT_NOT_READY,
	ACCOUNT_RECEIVING,
	ACCOUNT_SAMPLING, /* NAN: not observed; not_ready and receiving then include its time */
	ACCOUNT_EPOCH_START,
	ACCOUNT_EPOCH_END,
	ACCOUNT_PART_MAX
};

struct account {
	double part_ns[ACCOUNT_PART_MAX]; /* NAN: unknown; wait_ns includes its time even then */
	double share[ACCOUNT_PART_MAX];   /* part_ns / time_ns; the shares add up to `ratio` */
	double wait_ns;
	double step_ns;
	double time_ns;
	double ratio;      /* wait_ns / time_ns; NAN: no time is known */
	double startup_ns; /* NAN: unknown */
	/* part of the epoch starts in which iter() chose samples; NAN: not observed */
	double start_sampling_ns;
	double unseen_ns; /* time of batches that are left out: their GPU idle time is unknown */
	size_t count;
	size_t life_count; /* number of programs that the process ran (execve()); 0: not counted */
};

#define ACCOUNT_EMPTY                                                                              \
	((struct account){.part_ns = {[ACCOUNT_SAMPLING] = NAN}, .startup_ns = NAN,         \
			  .start_sampling_ns = NAN})

/*
 * The time in which a thread trained, by CLOCK_MONOTONIC. If both ends are UNKNOWN, the account
 * leaves out the first epoch's start and the last epoch's end.
 */
struct account_span {
	int64_t begin_ns;
	int64_t end_ns;
};

struct account_wait {
	double not_ready_ns, receiving_ns; /* NAN: only their sum is known */
	double sampling_ns;                /* NAN: unknown; its time is then in the other two */
};

/* Divides a wait into its parts. `handover_ns` and `sample_ns` are NAN if they are unknown. */
struct account_wait account_divide(int64_t workers, double wait_ns, double handover_ns,
				   double sample_ns);

/* Returns how many of an epoch's first waits belong to its start. `workers` < 0: unknown. */
static inline int64_t account_start_count(int64_t workers)
{
	return workers < 0 ? 1 : workers;
}

/*
 * Divides the waits of one loader into the parts of the account. If `by_gpu`, a wait counts only as
 * long as the GPU was idle in it. If readiness is known of some batches only, a wait for another
 * one is "not ready" if it takes `theta_ns` or more, else "receiving".
 */
void account_of_loader(const struct batch_series *series, bool by_gpu, double theta_ns,
		       struct account *ret);

/* Adds a loader to the account of a thread. The account must be ACCOUNT_EMPTY at first. */
void account_add(struct account *thread, const struct batch_series *series, bool by_gpu,
		 double theta_ns, const struct account_span *span);
/* Ends the account after the last loader. Returns -ERANGE if the waits exceed the span. */
int account_close(struct account *thread, const struct account_span *span);

struct account_restart {
	double start_ns; /* how long epochs took to make their iterators */
	double end_ns;   /* how long the epochs before them took to end */
};

/* Sums up starts and ends of epochs, from index *next to the one numbered `epoch`. Moves *next. */
struct account_restart account_restart(const struct batch_series *series, size_t *next,
				       int32_t epoch);

/* Names in JSON. */
extern const char *const account_part_names[ACCOUNT_PART_MAX];
