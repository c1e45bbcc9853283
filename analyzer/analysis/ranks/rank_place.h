/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_place.h - finds signs that the ranks of a job were aligned wrongly.
 *
 * - Ranks number their first batches differently: equal numbers may not be the same step.
 * - By the clock, a rank begins and ends earlier than the others, or begins and ends later. A
 *   restart only delays the begin, and a failure only advances the end; both together are a wrong
 *   clock.
 */
#pragma once

#include "analysis/ranks/rank_job.h"

int rank_place_judge(const struct rank_job *job, struct rank_finding *ret);
