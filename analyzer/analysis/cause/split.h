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

#include "analysis/cause/diagnosis.h"

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

/*
 * Finds the share of the waiting that each owner has; the sum is 1. Uses the periods and the slow
 * workers of the diagnosis. Sets its cold, shift and queued_share.
 */
void split_find(const struct batch_series *series, const struct finding *finding,
		struct diagnosis *diagnosis, double ret_shares[SPLIT_MAX]);

/* Returns true if half or more of the loads under way while the training starved were slow. */
bool split_are_slow_together(const struct batch_series *series);
