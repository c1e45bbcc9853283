/* SPDX-License-Identifier: Apache-2.0 */
/*
 * culprit.h - decides whether one rank of a job, or a few, are to blame for the job's waits.
 *
 * A culprit is a rank with slow input, whose repair helps the job much more than another's would:
 *
 * - Only waits for unfinished batches count, because slow receiving may just be a lack of cores. A
 *   culprit has most of these waits, and three times as much as the next rank. (Even among equal
 *   ranks, one is the worst.)
 * - The job must gain at least 5 % if the culprit's batches are always ready. The waits of other
 *   ranks still count then, as their queues may be full only while they wait for the culprit.
 * - If no single rank is to blame, several ranks may be: those that starve alike, and three times
 *   as much as each of the rest. They are at most half of the ranks.
 * - Steps (waits included) are longer where the culprit waits longer. Else another rank computes
 *   meanwhile, so nothing is lost. This is not checked if a slow loader alone sets a step's time.
 */
#pragma once

#include "analysis/ranks/rank_job.h"

int culprit_find(const struct rank_job *job, const struct rank_group *group,
		 const struct window_width *width, struct rank_blame *blames,
		 struct rank_finding *ret);
