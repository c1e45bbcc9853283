/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_group.h - finds groups of ranks with the same pace, which may wait for each other.
 *
 * If two ranks never wait for each other, the faster one gets further and further ahead. Only times
 * between steps of one rank are used, as the clocks of two machines differ. Time between epochs
 * counts; if it is unknown, the epoch's first step is left out. Groups can be joined later, but not
 * divided, so a rank in doubt starts a new group.
 */
#pragma once

#include "analysis/ranks/rank_job.h"

/* Returns a rank's pace by the host's clock. Time between epochs belongs to the next step. */
struct pace rank_group_pace(const struct batch_series *series, const struct rank_epoch *epochs,
			    size_t epoch_count);

int rank_group_find(struct rank_job *job, const struct pace *pace, int32_t *ret_group);

void rank_group_count(struct rank_sums *sums, const struct rank_sums *more);

int rank_group_add(struct rank_group *group, const struct rank_group *other);

int rank_group_unite_alike(struct rank_job *job);
