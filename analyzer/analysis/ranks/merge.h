/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.h - joins parts of a job, each with some ranks, into the whole job.
 *
 * The frames of all parts (where epochs start, how wide bins are) are joined first. Then windows
 * are added, one part after the other, so that only one part is in memory.
 */
#pragma once

#include "analysis/ranks/rank_job.h"

/* Adds a part's epochs, and its bins' origin and width, to the job, which is all zero at first. */
int merge_frame(struct rank_job *whole, const struct rank_job *part);

void merge_settle(struct rank_job *whole);

/* Adds a part, and changes its windows. Its rank i is rank numbers[i] of the whole job. */
int merge_add(struct rank_job *whole, struct rank_job *part, const int32_t *numbers);
