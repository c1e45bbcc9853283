/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_place.h - signs that the ranks of a job were aligned wrongly.
 *
 * - Ranks number their batches from different numbers on. Then equal numbers need not be the same
 *   step, and ranks that seem not to wait for each other may do so.
 * - By the clock a rank begins and ends apart from the others, both times by as much. A restarted
 *   rank begins later, and one that broke off ends earlier; both together mean another clock.
 */
#pragma once

#include "analysis/ranks/rank_job.h"

/* Finds wrong alignments: sets ret->shifted, shifted_count and apart_ns. 0 or -ENOMEM. */
int rank_place_judge(const struct rank_job *job, struct rank_finding *ret);
