/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split.h - divides the waiting for batches that were not ready between the mechanisms behind it.
 *
 * Each nanosecond of this waiting, in steady batches, has one owner:
 * - single process: all of it, if there are no workers;
 * - cold cache: by how much the first epoch waits longer than later epochs, if its loads take at
 *   least 1.3 times as long;
 * - slow worker: the waits that would disappear if slow workers' loads (slow.h) were as short as
 *   those of other workers;
 * - isolated stall: the largest 0.5 % of the starved waits (at least two), if they are at least
 *   70 % of the waiting, and no period, cold cache or slow worker explains any.
 *
 * The rest is one pool. If loads are longer for good from some batch on, the waits before and after
 * it are two pools. rho of a pool is mean load (as if no worker were slow) / workers / the mean
 * time in which the training takes a batch (taken_mean_ns in stall.h). In each pool:
 * - If rho is 1 or more, loader capacity owns all, or CPU contention if the workers use 85 % of the
 *   cores. If workers are slow together, rho must be 1.25, as halts of a server lengthen the mean.
 * - Else periodic slow load owns the share of the waiting at the period's phase.
 * - Of what remains, head of line owns the waits during which later batches were ready, if the
 *   loader delivers in order.
 * - The remainder belongs to loader capacity if rho is at least 0.9 and the workers are not slow
 *   together, else to SPLIT_UNSEEN if loads are unknown, else to an intermittent loader.
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

/* Compares the first epoch with the later epochs. NAN: there is only one epoch. */
struct cold {
	double first_load_ns, later_load_ns;
	double first_ratio, later_ratio; /* share of the time spent waiting for batches not ready */
	double excess_ns; /* time by which the first epoch's loads exceed as many later loads */
	double owned_ns;
	bool found;
};

/* Loads take longer from one batch on, as when a storage's burst credit is used up. */
struct shift {
	size_t at; /* first batch with longer loads; 0: there is no shift */
	double before_ns, after_ns;
};

struct split {
	double share[SPLIT_MAX]; /* share of the waiting that each owner has; the sum is 1 */
	double queued_share; /* share of the waiting while later batches were ready; NAN: unknown */
	struct cold cold;
	struct shift shift;
};

struct split_periods {
	const struct period *wait, *load;
};

void split_find(const struct batch_series *series, const struct finding *finding,
		const struct slow_workers *slow, const struct split_periods *periods,
		struct split *ret);

/* Returns true if half or more of the loads under way while the training starved were slow. */
bool split_are_slow_together(const struct batch_series *series);
