/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.h - joins parts of a job, each with the data of some ranks, into the whole job.
 *
 * First the frames of all parts are merged: where each epoch begins, and how wide bins of time are.
 * Then the windows are added part by part, so that only one part's windows are in memory. Epochs
 * begin at multiples of the widest window, so an epoch's windows can be moved to its place in the
 * whole job.
 */
#pragma once

#include "analysis/ranks/rank_job.h"

/* Merges the frame of one more part into `whole`, all zero at first. Returns 0 or -ENOMEM. */
int merge_frame(struct rank_job *whole, const struct rank_job *part);

/* Completes the frame of `whole` after all parts are merged. */
void merge_settle(struct rank_job *whole);

/*
 * Adds the ranks of `part`, and changes its windows. `numbers` has, for each of its ranks, the
 * rank's number in the whole. whole->members must have room for all ranks. Returns 0 or -ENOMEM.
 */
int merge_add(struct rank_job *whole, struct rank_job *part, const int32_t *numbers);
