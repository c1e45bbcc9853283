/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - loaders that are run by a model of their own: event by event, not by the recursion that
 * the analysis uses.
 */
#pragma once

#include "analysis/cause/cause.h"

/* What a loader does; times in ms. */
struct model {
	int workers, prefetch, epochs, batches;
	double load, spread; /* loads are load x (1 +- spread) */
	double compute;
	double delivery; /* of a batch that is ready */
	int slow_worker;
	double slow_factor; /* of its loads; 0: none */
	double rare_share, rare_factor;
	int every;          /* every so many loads takes rare_factor times as long */
	int pause_every;    /* the training stops for 2 s */
	double start;       /* of an epoch */
	double cold_factor; /* of the loads of the first epoch */
	double cpu_share;
	double cores, main_cores, other_cores;
	int other_nice;
	bool burst; /* all workers are slow for a while */
	bool hide_readiness;
};
/* One of which nothing is to be said. */
extern const struct model HEALTHY;

/* Of the model that was run last; to be freed by series_done(). */
extern struct batch_series series;
extern struct finding finding;
extern struct diagnosis diagnosis;

/* Makes its series: a worker takes its next task when it is free and was given one. */
void model_run(const struct model *m);

/* The same, and judges it. */
void model_diagnose(const struct model *m);

/* The throughput of the model itself, steady batches only; the series is freed. */
double model_truth(const struct model *m);

/* The next of a row of numbers from 0 to 1. */
double model_random_share(void);
