/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow.h - workers that are slower than the others, whatever they are given.
 *
 * Batches are dealt out in turn, so the samples at every k-th index always fall to the same workers
 * where k divides the number of workers. Then the samples are slow, and not the workers. The bytes
 * that the workers read show it (slow_work), or, where nothing was read, slow workers' numbers that
 * repeat every k.
 */
#pragma once

#include "analysis/account/stall.h"

#define SLOW_MOST    64   /* workers that are named */
#define SLOW_WORKERS 1024 /* with more workers nothing is looked for */

struct slow_workers {
	int32_t worker; /* the slowest; -1: none is slow */
	size_t count;
	int16_t list[SLOW_MOST]; /* the first slow workers, ascending */
	double factor;           /* median load of the slow workers over that of all others */
	double z;                /* the smallest of their Welch z, on log loads */
	double share;            /* share of the stall time that is on their batches */
	double owned_ns;         /* stall time that loads as short as the others' would save */
	int32_t every;           /* every so many-th batch is slow, and no worker is; 0: not so */
};

/* Bytes that each worker's loads read, and their count; a count of 0: not known. */
struct slow_work {
	double bytes[SLOW_WORKERS];
	double loads[SLOW_WORKERS];
};

/*
 * Finds slow workers: at most half of all, each with 1.3 times the others' median load or more,
 * beyond chance (z >= 4), and with half of the stall time or more on their batches. `work` is NULL
 * if it is not known. 0 or -ENOMEM.
 */
int slow_find(const struct batch_series *series, const struct finding *finding,
	      const struct slow_work *work, struct slow_workers *ret);
