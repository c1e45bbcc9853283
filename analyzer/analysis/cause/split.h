/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split.h - which mechanism owns how much of the waiting for batches that are not ready.
 *
 * Each such nanosecond of a steady batch has one owner:
 * - single process: all of it, where there are no workers;
 * - cold cache: what the first epoch waits beyond what the later ones wait for as many batches,
 *   where its loads take 1.3 times as long or more;
 * - slow worker: of the waits for batches of slow workers (slow.h) what loads as short as the
 *   others' would have saved;
 * - isolated stall: the largest half percent of the starved waits (two at least), where they are
 *   seven tenths of the whole and no period explains them.
 * The rest is one pool a stretch of the run (one; two where loads get longer for good):
 * - loader capacity, or CPU contention where the workers use 85 % of the cores: all of it, where
 *   the mean load, slow workers made equal, is what the workers and the training allow or more;
 * - else periodic slow load: its share at the period's phase, where loads are slow each so many
 *   batches;
 * - of what remains, head of line: what was waited while other batches were ready, in order;
 * - and the remainder: loader capacity where the mean load is nine tenths of that; an unseen loader
 *   where loads are not known; else an intermittent loader.
 */
#pragma once

#include "analysis/account/stall.h"
#include "analysis/cause/slow.h"
#include "analysis/period/period.h"

enum split_owner {
	SPLIT_CAPACITY,
	SPLIT_SLOW_WORKER,
	SPLIT_PERIODIC,
	SPLIT_HEAD_OF_LINE,
	SPLIT_INTERMITTENT,
	SPLIT_COLD,
	SPLIT_ISOLATED,
	SPLIT_SINGLE,
	SPLIT_UNSEEN,
	SPLIT_MAX
};

/* The first epoch against those after it. NAN: there is only one. */
struct cold {
	double first_load_ns, later_load_ns;
	double first_ratio, later_ratio; /* of their time, waiting for batches not ready */
	double owned_ns;
	bool found;
};

/*
 * Loads that take longer for good from some batch on: a credit of bursts is used up, a cache does
 * not hold what comes now. It is no passing trouble.
 */
struct shift {
	size_t at;                  /* index of that batch; 0: none */
	double before_ns, after_ns; /* mean loads */
};

struct split {
	double share[SPLIT_MAX]; /* of the waiting for batches that are not ready; their sum is 1 */
	double queued_share;     /* of it, waited while other batches were ready; NAN: unknown */
	struct cold cold;
	struct shift shift;
};

struct split_periods {
	const struct period *wait, *load;
};

/* Of a judged series. */
void split_find(const struct batch_series *series, const struct finding *finding,
		const struct slow_workers *slow, const struct split_periods *periods,
		struct split *ret);
