/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow.h - finds workers whose loads are slow whatever samples they get.
 *
 * The median load of each slow worker is 1.3 times that of the other workers, beyond chance (z >=
 * 4). At most half of all workers are slow, and cause at least half of the stall time. Slow samples
 * at every k-th index can look like slow workers. What the workers read tells them apart or, if
 * that is unknown, whether the numbers of the slow workers repeat every k.
 */
#pragma once

#include "analysis/account/stall.h"

#define SLOW_MOST    64
#define SLOW_WORKERS 1024 /* more workers are not looked at */

struct slow_workers {
	int32_t worker; /* slowest worker; -1: no worker is slow */
	size_t count;
	int16_t list[SLOW_MOST]; /* the first SLOW_MOST slow workers, ascending */
	double factor; /* median load of the slow workers / median load of the others */
	double z; /* smallest Welch z of a slow worker's log loads against other workers' */
	double share; /* share of the stall time spent waiting for batches of the slow workers */
	double owned_ns; /* stall time saved if these loads were as short as other workers' */
	int32_t every; /* k, if every k-th batch is slow, and no worker; else 0 */
};

/* Bytes read and loads made by each worker. 0 loads: unknown. */
struct slow_work {
	double bytes[SLOW_WORKERS];
	double loads[SLOW_WORKERS];
};

int slow_find(const struct batch_series *series, const struct finding *finding,
	      const struct slow_work *work, struct slow_workers *ret);
