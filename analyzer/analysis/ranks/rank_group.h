/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_group.h - which ranks of a job have the same pace: do they wait for each other?
 *
 * Ranks that meet after a fixed number of steps are level each time: how far one is ahead has a
 * bound. Of ranks that never meet the faster one gets further and further ahead. Only times between
 * a rank's own steps are compared, never one machine's clock with another's. The time between two
 * epochs counts as well, since other ranks wait for one that validates, or saves; if that time is
 * not known, the first step of an epoch is left out.
 *
 * While ranks are added, a rank that may not meet the others gets its own group, because windows
 * can be joined but never taken apart. In the end only groups that surely are separate stay so.
 */
#pragma once

#include "analysis/ranks/rank_job.h"

/*
 * Returns the pace of a rank by the host's clock, which has all steps, even if the account uses
 * another clock. Time between two epochs counts for the next step, as it does in the ranks that
 * wait for this one.
 */
struct pace rank_group_pace(const struct batch_series *series, const struct rank_epoch *epochs,
			    size_t epoch_count);

/* Finds a rank's group by its pace, or makes a new one. Returns 0 or -ENOMEM. */
int rank_group_find(struct rank_job *job, const struct pace *pace, int32_t *ret_group);

/* Adds the counts and times of `more` to a group's sums. */
void rank_group_count(struct rank_sums *sums, const struct rank_sums *more);

/* Adds the ranks of another group, which is not changed. Returns 0 or -ENOMEM. */
int rank_group_add(struct rank_group *group, const struct rank_group *other);

/* Joins groups until only those remain that are surely separate. Returns 0 or -ENOMEM. */
int rank_group_unite_alike(struct rank_job *job);
