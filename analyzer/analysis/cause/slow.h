/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow.h - finds workers whose loads are slow whatever samples they get.
 *
 * Each slow worker's median load is at least 1.3 times the median load of the other workers, beyond
 * chance (z >= 4). At most half of all workers are slow, and cause at least half of the stall time.
 * Slow samples at every k-th index can look like slow workers. The two are told apart by how much
 * the workers read or, if that is unknown, by whether every k-th worker is slow.
 */
#pragma once

#include "analysis/account/stall.h"

#define SLOW_MOST    64
#define SLOW_WORKERS 1024 /* runs with more workers are not looked at */

struct slow_workers {
	int32_t worker; /* slowest worker; -1: no worker is slow */
	size_t count;
	int16_t list[SLOW_MOST]; /* the first SLOW_MOST slow workers, ascending */
	double factor; /* median load of the slow workers / median load of the others */
	double z; /* smallest z of a slow worker: Welch's test of ln(load) against other workers */
	double share; /* share of the stall time spent waiting for batches of the slow workers */
	double owned_ns; /* stall time saved if slow workers were as fast as the others */
	int32_t every; /* k: every k-th batch is slow because of its samples; 0: none */
};

/* Bytes that each worker read, and number of its loads; 0 loads: unknown. */
struct slow_work {
	double bytes[SLOW_WORKERS];
	double loads[SLOW_WORKERS];
};

int slow_find(const struct batch_series *series, const struct finding *finding,
	      const struct slow_work *work, struct slow_workers *ret);
