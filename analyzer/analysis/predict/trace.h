/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - a run in the form that replay.h replays: its batches, its epochs' starts and ends, and
 * their times.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/account/series.h"
#include "analysis/account/share.h"
#include "analysis/statistics/stats.h"

#define TRACE_TIMES   5    /* number of columns of times */
#define TRACE_WORKERS 1024 /* factors are found for at most this many workers */

struct trace_epoch {
	size_t begin;    /* index of the epoch's first batch */
	double setup_ns; /* making the iterator, which starts its workers one after the other */
	/* Part of setup_ns in which samples were chosen, after the workers' start; NAN: unknown.
	 * Without workers they are chosen in the first next(), and both include that time. */
	double sample_ns;
	double boot_ns;  /* time from the end of setup to the last worker's first load; or NAN */
	double start_ns; /* time from the end of setup to the first load */
	double stop_ns;  /* time of the call that ended the epoch */
};

/* A run's batches and epochs. Loads are as if workers were alike; `factors` are the differences. */
struct trace {
	union {
		float *times[TRACE_TIMES];
		struct {
			float *load_ns;     /* load, divided by its worker's factor */
			float *compute_ns;  /* step of the batch */
			float *lag_ns;      /* time from when the load could begin to its begin */
			float *latency_ns;  /* time from the load's end until the consumer can take
					     * the batch in */
			float *handover_ns; /* time from then until next() returns the batch */
		};
	};
	int16_t *worker; /* worker that loaded the batch; -1: unknown */
	size_t count;
	struct trace_epoch *epochs;
	size_t epoch_count;
	double *factors; /* how many times longer each worker's loads take */
	size_t factor_count;
	bool by_index;  /* the factors have a period, so slow loads belong to the data */
	bool is_either; /* slow loads may belong to the workers or to the data */
	double usual_lag_ns;
	double kept_factor; /* factor on an epoch's first loads if the workers ran before */
	/* Time to receive a batch, if that is long; 0: it does not matter. Batches are received as
	 * they are finished, also while the training waits for another one. */
	double receive_ns;
	double sample_ns; /* part of a hand-over spent choosing samples; 0: none, or not known.
			   * Epochs' starts have their own. */
	double fetch_ns;  /* part of a hand-over that fetches descriptors; 0: none, or not known */
	bool fetch_waits; /* fetching waits until the worker's next load releases its interpreter */

	int32_t workers; /* number of workers that loaded in the run */
	bool restarts;   /* the loader started new workers in each epoch */
	double time_ns;  /* time of the batches that are in this trace */
	double per_s;    /* batches a second of the whole run */

	double load_cpu; /* share of a load, and of a step with its hand-over, spent on the CPU */
	double step_cpu;
	double step_threads; /* threads that use the CPU at once during a step */
	double load_got;     /* share of a core that loads, and steps, got while they could run */
	double step_got;
	struct share share;
};

/* Makes room for `count` batches in all columns. Returns 0 or -ENOMEM; then call trace_done(). */
int trace_make_room(struct trace *trace, size_t count);

/*
 * Finds each worker's factor: the median of its loads / that of the middle worker, if the two
 * differ by more than 15 % and beyond chance (|z| >= 3 on log loads); else 1. Divides the loads by
 * it. Returns 0 or -ENOMEM.
 */
int trace_find_factors(struct trace *trace, size_t workers);
void trace_done(struct trace *trace);

/* Makes a trace of the same size, without factors, for trace_draw(). Returns 0 or -ENOMEM. */
int trace_copy(const struct trace *trace, struct trace *ret);

/* Draws a random run that is as likely: with random blocks of batches, and random later epochs. */
void trace_draw(const struct trace *trace, size_t block, uint64_t *state, struct trace *ret);

/* Returns true if the run chose samples, for single batches or at the start of epochs. */
bool trace_has_sampling(const struct trace *trace);
