/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - holds the times of a run's batches and epochs, as replay.h needs them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/account/series.h"
#include "analysis/account/share.h"
#include "analysis/statistics/stats.h"

#define TRACE_TIMES   5
#define TRACE_WORKERS 1024

struct trace_epoch {
	size_t begin;
	double setup_ns; /* time of making the iterator, which starts workers one after the other */
	/* Part of setup_ns in which samples were chosen; NAN: unknown. Without workers, setup_ns
	 * and sample_ns also have the time in which the first next() chose samples. */
	double sample_ns;
	double boot_ns; /* from the end of setup until the last worker began a load; NAN: unknown */
	double start_ns; /* time from the end of setup to the first load */
	double stop_ns;
};

/* Each worker's load_ns is divided by its factor, as if all workers were equally fast. */
struct trace {
	union {
		float *times[TRACE_TIMES];
		struct {
			float *load_ns;
			float *compute_ns;
			float *lag_ns; /* from when the load could begin until it began */
			/* from the load's end until the consumer can take the batch */
			float *latency_ns;
			float *handover_ns; /* from the end of latency until next() returns it */
		};
	};
	int16_t *worker; /* -1: unknown */
	size_t count;
	struct trace_epoch *epochs;
	size_t epoch_count;
	double *factors; /* each worker's loads take this many times load_ns */
	size_t factor_count;
	bool by_index;  /* `factors` repeat over the workers, so they are due to the data */
	bool is_either; /* `factors` may be due to the workers or to the data */
	double usual_lag_ns;
	double kept_factor; /* length of first loads in workers that stay / in new workers */
	/* time to receive a batch, even if the training waits for another; 0: too little */
	double receive_ns;
	double sample_ns; /* part of a hand-over that chooses samples; 0: none or unknown */
	double fetch_ns;  /* part of a hand-over that fetches file descriptors; 0: none, unknown */
	double filed_share; /* sharing tensors by files instead takes this share of fetch_ns */
	bool fetch_waits; /* fetching waits for the worker's interpreter, busy with its next load */

	int32_t workers;
	bool is_thread; /* one worker is a thread of the training's process; more are processes */
	bool restarts;
	double time_ns;
	double per_s;

	double load_cpu; /* share of a load (step_cpu: of a step and hand-over) on the CPU */
	double step_cpu;
	double step_threads; /* number of threads that use CPUs at once during a step */
	double load_got; /* share of runnable time in which loads (step_got: steps) had a core */
	double step_got;
	struct share share;
};

/* Allocates the arrays. Call trace_done() also after an error. */
int trace_make_room(struct trace *trace, size_t count);

/* Sets `factors`. Where medians differ by less than 15 %, or by chance (|z| < 3), a factor is 1. */
int trace_find_factors(struct trace *trace, size_t workers);
void trace_done(struct trace *trace);

/* Copies a trace, but not its factors, as a target for trace_draw(). */
int trace_copy(const struct trace *trace, struct trace *ret);

/* Makes a resample in `ret`: randomly drawn blocks of batches, and starts of later epochs. */
void trace_draw(const struct trace *trace, size_t block, uint64_t *state, struct trace *ret);

/* Returns true if the time of choosing samples is known, for batches or epochs. */
bool trace_has_sampling(const struct trace *trace);

/* Returns true if a worker's loads take longer than load_ns: one of `factors` is above 1. */
bool trace_has_slow_worker(const struct trace *trace);
