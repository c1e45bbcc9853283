/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - a run as it can be replayed: its batches and epochs' starts, with their times divided.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/account/series.h"
#include "analysis/account/share.h"
#include "analysis/statistics/stats.h"

#define TRACE_TIMES   5    /* columns of times */
#define TRACE_WORKERS 1024 /* workers with a factor of their own */

struct trace_epoch {
	size_t begin;    /* its first batch */
	double setup_ns; /* making the iterator: starting its workers one after the other */
	double boot_ns;  /* time from the end of setup until the last worker's first load; or NAN */
	double start_ns; /* time from the end of setup until the first load begins */
	double stop_ns;  /* the call that ended the epoch */
};

/* Loads as if all workers were alike, and what sets the workers apart. */
struct trace {
	union {
		float *times[TRACE_TIMES];
		struct {
			float *load_ns;     /* already divided by its worker's factor */
			float *compute_ns;  /* the step */
			float *lag_ns;      /* delay of the load's begin */
			float *latency_ns;  /* time between the load's end and the batch's
					     * arrival */
			float *handover_ns; /* time from then until the batch was in hand */
		};
	};
	int16_t *worker; /* the worker that loaded it; -1: unknown */
	size_t count;
	struct trace_epoch *epochs;
	size_t epoch_count;
	double *factors; /* for each worker: how many times longer its loads take */
	size_t factor_count;
	bool by_index;  /* the factors repeat among the workers, so the data has them */
	bool is_either; /* unknown whether workers or data cause the factors */
	double usual_lag_ns;
	double kept_factor; /* factor on a worker's first load of an epoch, if the worker is kept */
	/* The time to take a batch in. Batches come in the order in which they are finished, also
	 * while the training waits for another one. 0: too little to matter. */
	double receive_ns;
	double sample_ns; /* part of a hand-over, choosing samples; 0: none, or not known */
	double fetch_ns;  /* part of a hand-over, asking for tensors' descriptors; 0 likewise */
	bool fetch_waits; /* asking waits until the worker's next load lets its interpreter go */

	int32_t workers; /* workers that loaded in the run */
	bool restarts;   /* each epoch starts its workers */
	double time_ns;  /* time of these batches */
	double per_s;    /* batches per second of the whole run */

	double load_cpu; /* parts of a load, and of a step with its hand-over, that use the CPU */
	double step_cpu;
	double step_threads; /* threads of a step that use the CPU at once */
	double load_got;     /* share of a core that loads, and steps, got while they could run */
	double step_got;
	struct share share;
};

/* Makes room for `count` batches in all columns. 0 or -ENOMEM; call trace_done() in either case. */
int trace_make_room(struct trace *trace, size_t count);

/*
 * Finds each worker's factor: the median of its loads over that of the middle worker, if it is more
 * than 15 % off and beyond chance (|z| >= 3 on log loads), else 1. Divides the loads by it. 0 or
 * -ENOMEM.
 */
int trace_find_factors(struct trace *trace, size_t workers);
void trace_done(struct trace *trace);

/* Makes a trace of the same size without factors, for trace_draw(). 0 or -ENOMEM; trace_done(). */
int trace_copy(const struct trace *trace, struct trace *ret);

/* Draws a run that could have come as well: blocks of batches, and later epochs, at random. */
void trace_draw(const struct trace *trace, size_t block, uint64_t *state, struct trace *ret);
