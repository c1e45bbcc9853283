/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.h - joins parts of a job, each with some of its ranks, to the whole job.
 *
 * First the frames of all parts are merged (where each epoch lies, how wide bins of time are),
 * then, part by part, their windows, so that only one part's windows need be in memory. Epochs
 * begin at multiples of the widest window, so an epoch's windows can be moved to its place in the
 * whole.
 */
#pragma once

#include "analysis/ranks/rank_job.h"

/* Merges the frame of one more part into the whole, which begins as all zero. 0 or -ENOMEM. */
int merge_frame(struct rank_job *whole, const struct rank_job *part);

/* Completes the frame after all parts are merged. */
void merge_settle(struct rank_job *whole);

/*
 * Adds the ranks of a part, whose windows are changed. `numbers` has the number in the whole of
 * each of its ranks; whole->members has room for all. Returns 0 or -ENOMEM.
 */
int merge_add(struct rank_job *whole, struct rank_job *part, const int32_t *numbers);
