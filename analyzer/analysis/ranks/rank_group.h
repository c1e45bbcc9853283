/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_group.h - which ranks of a job go as fast as each other: do they wait for each other?
 *
 * Ranks that meet after every so many steps are level each time: how far one is ahead has a bound.
 * Of ranks that never meet the faster one gets further and further ahead. Only times between a
 * rank's own steps are compared, never one machine's clock with another's. What passes between two
 * epochs counts as well, for a rank that validates, or saves, is waited for by the others; where it
 * is not known, the first step of an epoch is left out.
 *
 * While ranks are added, whoever may not meet the others gets a group of its own, because windows
 * can be brought together and never be taken apart. In the end only those stay apart that surely
 * are.
 */
#pragma once

#include "analysis/ranks/rank_job.h"

/*
 * By the host's clock, whatever the account goes by: it has all steps. What passes between two
 * epochs is of the next step, as it is in the ranks that wait for this one meanwhile.
 */
struct pace rank_group_pace(const struct batch_series *series, const struct rank_epoch *epochs,
			    size_t epoch_count);

/* The group, of those that there are or a new one, for a rank of this pace. 0 or -ENOMEM. */
int rank_group_find(struct rank_job *job, const struct pace *pace, int32_t *ret_group);

/* Counts the ranks of one with those of the other. */
void rank_group_count(struct rank_sums *sums, const struct rank_sums *more);

/* Adds the ranks of the other, and leaves it as it is. 0 or -ENOMEM. */
int rank_group_add(struct rank_group *group, const struct rank_group *other);

/* Only those remain that are surely apart. 0 or -ENOMEM. */
int rank_group_unite_alike(struct rank_job *job);
