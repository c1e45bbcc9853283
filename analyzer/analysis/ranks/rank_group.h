/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_group.h - finds groups of ranks with the same pace, which may wait for each other.
 *
 * Ranks that meet every few steps are level at each meeting, so none gets further ahead than a
 * bound. Of ranks that never meet, the faster one gets further and further ahead. Only a rank's
 * times between its own steps are compared, never the clocks of two machines. The time between two
 * epochs counts, too, since other ranks wait for one that validates or saves; if it is unknown, the
 * epoch's first step is left out.
 *
 * While ranks are added, a rank that may not meet the others starts a group, because windows can be
 * joined, but not taken apart. At the end, groups that are not surely separate are joined.
 */
#pragma once

#include "analysis/ranks/rank_job.h"

/*
 * Returns the pace of a rank by the host's clock, which has all steps, even if the account uses the
 * GPU's. The time between two epochs counts for the step after it, as it does in the ranks that
 * wait for this one.
 */
struct pace rank_group_pace(const struct batch_series *series, const struct rank_epoch *epochs,
			    size_t epoch_count);

/* Finds the group with a pace, or makes a new one. Returns 0 or -ENOMEM. */
int rank_group_find(struct rank_job *job, const struct pace *pace, int32_t *ret_group);

/* Adds the counts and times of `more` to a group's sums. */
void rank_group_count(struct rank_sums *sums, const struct rank_sums *more);

/* Adds the ranks of `other`, which is not changed, to a group. Returns 0 or -ENOMEM. */
int rank_group_add(struct rank_group *group, const struct rank_group *other);

/* Joins all groups that are not surely separate. Returns 0 or -ENOMEM. */
int rank_group_unite_alike(struct rank_job *job);
