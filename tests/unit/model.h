/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - simulates loaders event by event, and so not by the recursion that the analysis uses.
 * Functions return the results in `series`, `finding` and `diagnosis`.
 */
#pragma once

#include "analysis/cause/cause.h"

/* What a loader does; times in ms. */
struct model {
	int workers, prefetch, epochs, batches;
	double load, spread; /* length of a load is load x (1 +- spread) */
	double compute;
	double delivery; /* time to receive a batch that is ready */
	int slow_worker;
	double slow_factor; /* factor of the slow worker's loads; 0: no worker is slow */
	double rare_share, rare_factor;
	int every;          /* every so many loads one takes rare_factor times as long */
	int pause_every;    /* batches after which the training stops for 2 s */
	double start;       /* time to start an epoch */
	double cold_factor; /* factor of the first epoch's loads */
	double cpu_share;
	double cores, main_cores, other_cores;
	int other_nice;
	bool burst; /* at times all workers are slow for a while */
	bool hide_readiness;
};
/* A loader without any trouble. */
extern const struct model HEALTHY;

/* The results of the last run; free `series` by series_done(). */
extern struct batch_series series;
extern struct finding finding;
extern struct diagnosis diagnosis;

/* Runs the model and fills `series`. A worker begins its next task when it is free and has one. */
void model_run(const struct model *m);

/* Runs the model, and judges its series. */
void model_diagnose(const struct model *m);

/* Runs the model; returns its batches per second, of steady batches only, and frees the series. */
double model_truth(const struct model *m);

/* Returns the next pseudo-random number from 0 to 1. */
double model_random_share(void);
