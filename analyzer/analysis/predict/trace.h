/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - a run as it can be replayed: all its batches and starts of epochs, and what of their
 * times is whose.
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
	double boot_ns;  /* from then on until the last worker begins its first load; NAN */
	double start_ns; /* from then on until the first load begins */
	double stop_ns;  /* the call that ended it */
};

/* Loads as if all workers were alike, and what sets the workers apart. */
struct trace {
	union {
		float *times[TRACE_TIMES];
		struct {
			float *load_ns;     /* already divided by its worker's factor */
			float *compute_ns;  /* the step */
			float *lag_ns;      /* from when the load could have begun until it did */
			float *latency_ns;  /* from its end until it reached the training */
			float *handover_ns; /* from then on until it was in hand */
		};
	};
	int16_t *worker; /* who loaded it; -1: unknown */
	size_t count;
	struct trace_epoch *epochs;
	size_t epoch_count;
	double *factors; /* of the first workers: how many times longer their loads take */
	size_t factor_count;
	bool by_index;  /* the factors repeat within the workers: the data's */
	bool is_either; /* ... or the workers': not known which */
	double usual_lag_ns;
	double kept_factor; /* a worker's first load of an epoch, if it had been there before */
	/*
	 * What it costs to take a batch in. Batches come in the order in which they are finished,
	 * also while the training waits for another one. 0: too little to matter.
	 */
	double receive_ns;
	double sample_ns; /* of a hand-over: choosing samples; 0: not known, or none */
	double fetch_ns;  /* ...: asking the worker for descriptors of tensors; likewise */
	bool fetch_waits; /* ... until the worker's next load lets its interpreter go */

	int32_t workers; /* that loaded, as it was */
	bool restarts;   /* each epoch starts its workers */
	double time_ns;  /* of these batches */
	double per_s;    /* batches per second of the whole run */

	double load_cpu; /* parts of a load, and of a step with its hand-over, that use the CPU */
	double step_cpu;
	double step_threads; /* how many use it at once */
	double load_got;     /* share of a core that they got meanwhile */
	double step_got;
	struct share share;
};

/* Room for so many batches in all columns. 0 or -ENOMEM; trace_done() in either case. */
int trace_make_room(struct trace *trace, size_t count);

/*
 * A worker's factor is the median of its loads over that of the workers in the middle where that is
 * more than 15 % off and no chance (|z| >= 3 on log loads); the loads are divided by it. 0 or
 * -ENOMEM.
 */
int trace_find_factors(struct trace *trace, size_t workers);
void trace_done(struct trace *trace);

/* One like it but for the factors, to be drawn to. 0 or -ENOMEM; trace_done() in either case. */
int trace_copy(const struct trace *trace, struct trace *ret);

/* What could have come as well: blocks of batches, and later epochs, by chance. */
void trace_draw(const struct trace *trace, size_t block, uint64_t *state, struct trace *ret);
