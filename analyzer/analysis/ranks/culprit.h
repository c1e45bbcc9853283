/* SPDX-License-Identifier: Apache-2.0 */
/*
 * culprit.h - is one rank of a job, or a few, to blame for what the job waits?
 *
 * It is named only where mending its input alone would help, and that of no other rank nearly as
 * much:
 * - Only waits for batches that were not there count: a rank that takes long to receive what is
 *   finished may just have been given a core later than the others. It is to blame for most of
 *   them, and three times as much as the next one: of ranks that are alike one is always the first.
 * - If its batches were always ready, the job would gain 5 % of its time. What the others waited
 *   meanwhile remains, and faster than their loaders deliver the job cannot become: a rank whose
 *   queue fills while it waits in the collective looks as if it had no need to wait.
 * - Where no single one is: several that starve alike, three times as much as each of the others,
 *   and no more than half of the ranks. They are named together.
 * - Its waits make the steps longer. Where another rank computes so long that the waits pass
 *   meanwhile, steps with long waits are as long as those with short ones. That says nothing of a
 *   loader which is always behind: there every step takes as long as a load, and the wait is the
 *   rest.
 */
#pragma once

#include "analysis/ranks/rank_job.h"

/* From windows of one width: the blame of each rank of the group, and its culprit. 0 or -ENOMEM. */
int culprit_find(const struct rank_job *job, const struct rank_group *group,
		 const struct window_width *width, struct rank_blame *blames,
		 struct rank_finding *ret);
