/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - a run's batches and epochs with their times, as replay.h needs them. */
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
	double setup_ns; /* making the iterator; workers start one after the other */
	/* Part of setup_ns that chose samples; NAN: unknown. Without workers, both include the
	 * first choice, which is in next(). */
	double sample_ns;
	double boot_ns; /* from the end of setup until the last worker began a load; NAN: unknown */
	double start_ns; /* time from the end of setup to the first load */
	double stop_ns;
};

/* Loads are as if all workers were equally fast: `factors` has their differences. */
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
	double *factors; /* how many times longer each worker's loads take */
	size_t factor_count;
	bool by_index;  /* `factors` repeat over workers, so slowness is in the data */
	bool is_either; /* slowness may be in workers or in data */
	double usual_lag_ns;
	double kept_factor; /* factor on an epoch's first loads if the workers ran before */
	/* Time to receive a batch, perhaps while waiting for another; 0: too short to matter. */
	double receive_ns;
	double sample_ns; /* part of a hand-over that chooses samples; 0: none or unknown */
	double fetch_ns;  /* part of a hand-over that fetches descriptors; 0: none or unknown */
	bool fetch_waits; /* a fetch waits for the interpreter, which the next load holds */

	int32_t workers;
	bool restarts;
	double time_ns;
	double per_s;

	double load_cpu; /* share of a load, and of a step with its hand-over, spent on the CPU */
	double step_cpu;
	double step_threads; /* threads that use the CPU at once during a step */
	double load_got; /* share of their runnable time in which loads, and steps, got a core */
	double step_got;
	struct share share;
};

/* Allocates the arrays. Call trace_done() also after an error. */
int trace_make_room(struct trace *trace, size_t count);

/* Sets factors, 1 unless medians differ by 15 % and beyond chance (|z| >= 3 on log loads). */
int trace_find_factors(struct trace *trace, size_t workers);
void trace_done(struct trace *trace);

/* Copies a trace, without factors, for trace_draw(). */
int trace_copy(const struct trace *trace, struct trace *ret);

/* Fills `ret` with random blocks of batches and random later epochs. */
void trace_draw(const struct trace *trace, size_t block, uint64_t *state, struct trace *ret);

/* Returns true if the time of choosing samples is known, for batches or epochs. */
bool trace_has_sampling(const struct trace *trace);
