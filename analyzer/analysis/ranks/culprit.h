/* SPDX-License-Identifier: Apache-2.0 */
/*
 * culprit.h - is one rank of a job, or are a few, to blame for the job's waits?
 *
 * A rank is named only if mending its input alone would help, and mending no other rank's would
 * help nearly as much:
 * - Only waits for unfinished batches count: a rank that takes long to receive finished ones may
 *   only have been given a core later than the others. The rank is to blame for most of these
 *   waits, and for three times as much as the next one: of ranks that are alike one is always the
 *   first.
 * - If its batches were always ready, the job would gain 5 % of its time. The waits of the others
 *   in that time remain, and the job cannot become faster than their loaders: a rank whose queue
 *   fills while it waits in the collective only looks as if it had no need to wait.
 * - If no single rank is to blame, several are named together: those that starve alike, three times
 *   as much as each of the others, and no more than half of the ranks.
 * - The rank's waits make the steps longer. If another rank computes so long that the waits pass in
 *   that time, steps with long waits are as long as others. That does not hold for a loader which
 *   is always behind: there every step takes as long as a load, and the wait is the rest.
 */
#pragma once

#include "analysis/ranks/rank_job.h"

/* Finds the blame of a group's ranks, and its culprits, from windows of one width. 0 or -ENOMEM. */
int culprit_find(const struct rank_job *job, const struct rank_group *group,
		 const struct window_width *width, struct rank_blame *blames,
		 struct rank_finding *ret);
