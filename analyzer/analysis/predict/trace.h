/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - a run in a form that can be replayed: its batches and epochs' starts, and their times.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/account/series.h"
#include "analysis/account/share.h"
#include "analysis/statistics/stats.h"

#define TRACE_TIMES   5    /* number of columns of times */
#define TRACE_WORKERS 1024 /* most workers that can have factors */

struct trace_epoch {
	size_t begin;    /* index of the epoch's first batch */
	double setup_ns; /* making the iterator: starting its workers one after the other */
	double boot_ns;  /* time from the end of setup to the last worker's first load; or NAN */
	double start_ns; /* time from the end of setup until the first load begins */
	double stop_ns;  /* time of the call that ended the epoch */
};

/* A run's batches and epochs. Loads are as if all workers were alike; `factors` tell them apart. */
struct trace {
	union {
		float *times[TRACE_TIMES];
		struct {
			float *load_ns;     /* load, divided by its worker's factor */
			float *compute_ns;  /* step of the batch */
			float *lag_ns;      /* delay of the load's begin after it could begin */
			float *latency_ns;  /* time from the load's end until the batch can be taken
					     * in */
			float *handover_ns; /* time from then until the batch is in hand */
		};
	};
	int16_t *worker; /* worker that loaded the batch; -1: unknown */
	size_t count;
	struct trace_epoch *epochs;
	size_t epoch_count;
	double *factors; /* how many times longer each worker's loads take */
	size_t factor_count;
	bool by_index;  /* factors repeat among the workers: slow loads belong to the data */
	bool is_either; /* slow loads may belong to the workers or to the data */
	double usual_lag_ns;
	double kept_factor; /* factor on a worker's first load of an epoch if the worker is kept */
	/* Time to take a batch in. Batches are taken in as they are finished, also while the
	 * training waits for another one. 0: too short to matter. */
	double receive_ns;
	double sample_ns; /* part of a hand-over that chooses samples; 0: none, or not known */
	double fetch_ns;  /* part of a hand-over that fetches descriptors; 0: none, or not known */
	bool fetch_waits; /* fetching waits until the worker's next load releases its interpreter */

	int32_t workers; /* number of workers that loaded in the run */
	bool restarts;   /* each epoch starts its workers anew */
	double time_ns;  /* time of the batches in this trace */
	double per_s;    /* batches a second of the whole run */

	double load_cpu; /* share of a load, and of a step with its hand-over, that uses the CPU */
	double step_cpu;
	double step_threads; /* threads that use the CPU at once in a step */
	double load_got;     /* share of a core that loads (steps) got while they could run */
	double step_got;
	struct share share;
};

/* Makes room for `count` batches in all columns. Returns 0 or -ENOMEM; then call trace_done(). */
int trace_make_room(struct trace *trace, size_t count);

/*
 * Finds each worker's factor: the median of its loads over that of the middle worker, if it is more
 * than 15 % off and beyond chance (|z| >= 3 on log loads), else 1. Divides the loads by it. Returns
 * 0 or -ENOMEM.
 */
int trace_find_factors(struct trace *trace, size_t workers);
void trace_done(struct trace *trace);

/* Makes a trace of the same size without factors, for trace_draw(). 0 or -ENOMEM. */
int trace_copy(const struct trace *trace, struct trace *ret);

/* Draws another run that is as likely: blocks of batches, and later epochs, at random. */
void trace_draw(const struct trace *trace, size_t block, uint64_t *state, struct trace *ret);
