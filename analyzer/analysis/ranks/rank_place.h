/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_place.h - what speaks against how the ranks of a job were aligned.
 *
 * - Their batches are numbered from different ones on: then a step of one rank need not be the
 *   step of that number of the others, and that ranks seem not to wait for each other shows
 *   nothing.
 * - By the clock they begin and end apart, both by as much. One that was restarted begins later,
 *   and one that broke off ends earlier; both at once is a clock that differs.
 */
#pragma once

#include "analysis/ranks/rank_job.h"

/* To ret->shifted, ret->shifted_count and ret->apart_ns. 0 or -ENOMEM. */
int rank_place_judge(const struct rank_job *job, struct rank_finding *ret);
