/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split.h - which mechanism owns how much of the waiting for batches that are not ready.
 *
 * Each such nanosecond of a steady batch has one owner:
 * - single process: all of it, if there are no workers;
 * - cold cache: by how much the first epoch waits more than later epochs wait for as many batches,
 *   if its loads take 1.3 times as long or more;
 * - slow worker: the waits for batches of slow workers (slow.h) that would disappear if their loads
 *   were as short as the others';
 * - isolated stall: the largest half percent of the starved waits (two at least), if they are seven
 *   tenths of the whole and no period explains them.
 * The rest is one pool (two if loads get longer for good: before and after). In each pool
 * - loader capacity, or CPU contention if the workers use 85 % of the cores, owns all if rho is 1
 *   or more: mean load, slow workers made equal, over workers and mean step;
 * - else periodic slow load owns the share at the period's phase, if loads are slow every so many
 *   batches;
 * - head of line owns, of what remains, the waits while other batches were ready, in a loader that
 *   delivers in order;
 * - and the remainder goes to loader capacity if rho is 0.9 or more, to an unseen loader if loads
 *   are not known, else to an intermittent loader.
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

/* Compares the first epoch with those after it. NAN: there is only one epoch. */
struct cold {
	double first_load_ns, later_load_ns;
	double first_ratio, later_ratio; /* share of the time in waits for batches not ready */
	double owned_ns;
	bool found;
};

/*
 * A shift: loads take longer for good from some batch on. Storage has used up a burst credit, or a
 * cache does not hold the data that comes now.
 */
struct shift {
	size_t at;                  /* index of the first batch after the shift; 0: there is none */
	double before_ns, after_ns; /* mean loads before and after the shift */
};

struct split {
	double share[SPLIT_MAX]; /* share of the waiting that each owner has; the sum is 1 */
	double queued_share; /* share of the waiting while other batches were ready; NAN: unknown */
	struct cold cold;
	struct shift shift;
};

struct split_periods {
	const struct period *wait, *load;
};

/* Divides a judged series' waiting for batches that were not ready between the mechanisms. */
void split_find(const struct batch_series *series, const struct finding *finding,
		const struct slow_workers *slow, const struct split_periods *periods,
		struct split *ret);
