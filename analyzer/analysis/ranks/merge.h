/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.h - joins parts of a job, each with some ranks, into the whole job.
 *
 * First the frames of all parts (begins of epochs, width of bins), then the windows part by part,
 * so that memory holds one part's only. Epochs begin at multiples of the widest window.
 */
#pragma once

#include "analysis/ranks/rank_job.h"

/* `whole` is all zero before the first part. */
int merge_frame(struct rank_job *whole, const struct rank_job *part);

void merge_settle(struct rank_job *whole);

/* Changes the windows of `part`; `numbers` are its ranks' in the whole, which has room for them. */
int merge_add(struct rank_job *whole, struct rank_job *part, const int32_t *numbers);
