/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow.h - workers that are slower than the others, whatever they are given.
 *
 * Batches are dealt out in turn, so the samples at every k-th index always fall to the same workers
 * where k divides their number. Then it is the samples: which the bytes that the workers read tell
 * (slow_work), or, where nothing was read, the slow workers' numbers, if they repeat every k.
 */
#pragma once

#include "analysis/account/stall.h"

#define SLOW_MOST    64   /* workers that are named */
#define SLOW_WORKERS 1024 /* more are not looked at */

struct slow_workers {
	int32_t worker; /* the slowest; -1: none is slow */
	size_t count;
	int16_t list[SLOW_MOST]; /* ascending, the first of them */
	double factor;           /* their median load over that of all others */
	double z;                /* Welch, on log loads: the least of theirs */
	double share;            /* of the stall time that is on their batches */
	double owned_ns;         /* of it: what loads as short as the others' would save */
	int32_t every;           /* it is each so many-th batch that is slow, and no worker; 0 */
};

/* What a worker's loads read; a count of 0: not known. */
struct slow_work {
	double bytes[SLOW_WORKERS];
	double loads[SLOW_WORKERS];
};

/*
 * At most half of the workers, each with 1.3 times the median load of the others or more, which is
 * no chance (z >= 4), and with half of the stall time or more on their batches. `work`: NULL if it
 * is not known. 0 or -ENOMEM.
 */
int slow_find(const struct batch_series *series, const struct finding *finding,
	      const struct slow_work *work, struct slow_workers *ret);
