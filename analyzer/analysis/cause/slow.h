/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow.h - finds workers that are slower than the others with any samples.
 *
 * Batches go to the workers in turn, so the samples at every k-th index always fall to the same
 * workers if k divides the number of workers. Then the samples are slow, and not the workers. This
 * shows in the bytes that the workers read (slow_work), or, if they read nothing, in numbers of
 * slow workers that repeat every k.
 */
#pragma once

#include "analysis/account/stall.h"

#define SLOW_MOST    64   /* most slow workers that are listed */
#define SLOW_WORKERS 1024 /* most workers of a loader in which slow ones are looked for */

struct slow_workers {
	int32_t worker; /* number of the slowest worker; -1: none is slow */
	size_t count;
	int16_t list[SLOW_MOST]; /* numbers of the first slow workers, ascending */
	double factor;          /* median load of the slow workers, divided by that of all others */
	double z;          /* smallest Welch z of the slow workers' log loads against the others' */
	double share;   /* share of the stall time that is in waits for the slow workers' batches */
	double owned_ns;  /* stall time that is saved if their loads were as short as the others' */
	int32_t every;           /* k, if every k-th batch is slow and no worker is; else 0 */
};

/* Bytes that each worker's loads read, and the number of these loads; 0 loads: not known. */
struct slow_work {
	double bytes[SLOW_WORKERS];
	double loads[SLOW_WORKERS];
};

/*
 * Finds slow workers: at most half of all, each with 1.3 times the others' median load or more,
 * beyond chance (z >= 4), and with half of the stall time or more on their batches. `work` is NULL
 * if bytes are not known. Returns 0 or -ENOMEM.
 */
int slow_find(const struct batch_series *series, const struct finding *finding,
	      const struct slow_work *work, struct slow_workers *ret);
