/* SPDX-License-Identifier: Apache-2.0 */
/*
 * culprit.h - decides whether one rank of a job, or a few, are to blame for the job's waits.
 *
 * Mending a culprit's input would help, and mending any other rank's would not help nearly as much:
 *
 * - Only waits for unfinished batches count: slow receiving may just be a lack of cores. A culprit
 *   has most of these waits, and three times as much as the next rank: even of equal ranks, one is
 *   the worst.
 * - The job must gain at least 5 % if the rank's batches were always ready. The other ranks' waits
 *   remain, and their loaders limit the job: a queue that fills while its rank waits in the
 *   collective proves nothing.
 * - If no single rank is to blame, several are together: those that starve alike, three times as
 *   much as each of the others, if they are at most half of the ranks.
 * - The waits must lengthen steps: another rank may compute for longer than the wait. This is not
 *   checked for a loader that is always behind: every step then takes as long as a load.
 */
#pragma once

#include "analysis/ranks/rank_job.h"

int culprit_find(const struct rank_job *job, const struct rank_group *group,
		 const struct window_width *width, struct rank_blame *blames,
		 struct rank_finding *ret);
