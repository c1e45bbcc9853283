/* SPDX-License-Identifier: Apache-2.0 */
/*
 * culprit.h - decides whether one rank of a job, or a few, are to blame for the job's waits.
 *
 * A rank is a culprit only if mending its input alone would help, and mending any other rank's
 * would not help nearly as much:
 * - Only waits for unfinished batches count: a rank that takes long to receive finished ones may
 *   just have got a core later than the others. The rank must be to blame for most of these waits,
 *   and for three times as much as the next rank: even among equal ranks, one is always the worst.
 * - The job must gain at least 5 % of its time if the rank's batches were always ready. The waits
 *   of the other ranks during that time remain, and the job cannot become faster than their
 *   loaders: a rank whose queue fills while it waits in the collective only seems to have no need
 *   to wait.
 * - If no single rank is to blame, several are together: those that starve alike, three times as
 *   much as each of the others, if they are at most half of the ranks.
 * - The rank's waits must make the steps longer. If another rank computes for so long that the
 *   waits pass during that time, steps with long waits are no longer than others. This is not
 *   checked for a loader that is always behind: every step then takes as long as a load, whatever
 *   the wait is.
 */
#pragma once

#include "analysis/ranks/rank_job.h"

/* Finds what each rank of a group is to blame for, and the culprits. 0 or -ENOMEM. */
int culprit_find(const struct rank_job *job, const struct rank_group *group,
		 const struct window_width *width, struct rank_blame *blames,
		 struct rank_finding *ret);
