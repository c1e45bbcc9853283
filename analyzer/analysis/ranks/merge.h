/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.h - joins parts of a job, each with some ranks, into the whole job.
 *
 * First come the frames of all parts (starts of epochs, width of bins), then the windows of one
 * part after the other, to save memory. Epochs begin at multiples of the widest window.
 */
#pragma once

#include "analysis/ranks/rank_job.h"

/* Joins the frame of a part. `whole` is all zero before the first part. */
int merge_frame(struct rank_job *whole, const struct rank_job *part);

void merge_settle(struct rank_job *whole);

/* Adds a part and changes its windows. numbers[i]: number in the whole of the part's rank i. */
int merge_add(struct rank_job *whole, struct rank_job *part, const int32_t *numbers);
