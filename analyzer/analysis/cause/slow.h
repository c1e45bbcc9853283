/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow.h - finds workers whose loads are slow whatever samples they get.
 *
 * Batches go to the workers in turn. If k divides the number of workers, the samples at every k-th
 * index always go to the same workers; slow samples then look like slow workers. They are told
 * apart by the bytes that the workers read (slow_work), or, if they read nothing, by whether the
 * numbers of the slow workers repeat every k.
 */
#pragma once

#include "analysis/account/stall.h"

#define SLOW_MOST    64   /* largest number of slow workers that are listed */
#define SLOW_WORKERS 1024 /* slow workers are looked for among at most as many workers */

struct slow_workers {
	int32_t worker; /* number of the slowest worker; -1: no worker is slow */
	size_t count;
	int16_t list[SLOW_MOST]; /* numbers of the first SLOW_MOST slow workers, ascending */
	double factor;          /* median load of the slow workers / median load of the others */
	double z;          /* smallest Welch z of a slow worker's log loads against the others' */
	double share;   /* share of the stall time spent waiting for batches of the slow workers */
	double owned_ns;  /* stall time saved if their loads were as short as the others' */
	int32_t every;           /* k, if every k-th batch is slow rather than a worker; else 0 */
};

/* Bytes that each worker's loads read, and how many loads those are; 0 loads: not known. */
struct slow_work {
	double bytes[SLOW_WORKERS];
	double loads[SLOW_WORKERS];
};

/*
 * Finds slow workers: at most half of all; each has at least 1.3 times the median load of the
 * others, beyond chance (z >= 4); their batches have at least half of the stall time. `work` is
 * NULL if bytes are not known. Returns 0 or -ENOMEM.
 */
int slow_find(const struct batch_series *series, const struct finding *finding,
	      const struct slow_work *work, struct slow_workers *ret);
