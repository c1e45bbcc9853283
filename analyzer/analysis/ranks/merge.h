/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.h - parts of a job, each with some of its ranks, as the whole of it.
 *
 * First the frames of all parts (where each epoch lies, how wide bins of time are), then, part by
 * part, their windows: only one part's need be in memory. Epochs begin at multiples of the widest
 * window, so an epoch's windows can be moved to where the whole has that epoch.
 */
#pragma once

#include "analysis/ranks/rank_job.h"

/* The frame of one more part. The whole begins as all zero. 0 or -ENOMEM. */
int merge_frame(struct rank_job *whole, const struct rank_job *part);

/* All frames were merged. */
void merge_settle(struct rank_job *whole);

/*
 * Adds what the part holds, whose windows are changed. `numbers`: of its ranks in the whole, whose
 * members have room for all. 0 or -ENOMEM.
 */
int merge_add(struct rank_job *whole, struct rank_job *part, const int32_t *numbers);
