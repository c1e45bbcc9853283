/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_place.h - finds signs that the ranks of a job were aligned wrongly.
 *
 * - Ranks number their first batches differently. Then equal numbers may not be the same step, and
 *   ranks may only seem not to wait for each other.
 * - By the clock, a rank begins and ends earlier than the others, or begins and ends later. A
 *   restarted rank only begins later, and a rank that failed only ends earlier; if both times are
 *   off in the same direction, the rank's clock is off.
 */
#pragma once

#include "analysis/ranks/rank_job.h"

/* Looks for wrong alignment; sets ret->shifted, shifted_count and apart_ns. 0 or -ENOMEM. */
int rank_place_judge(const struct rank_job *job, struct rank_finding *ret);
