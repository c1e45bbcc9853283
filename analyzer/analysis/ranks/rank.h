/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank.h - the ranks of one job: does the job wait for data, and for which rank's?
 *
 * Ranks that train together meet in a collective operation every step. The one whose batch is late
 * waits for data; the others wait for it, inside their step, and look busy. So a step lost the
 * longest wait among the ranks, and the rank that had it is to blame for the step.
 *
 * - Waiting is what account.h counts: of every batch but a run's first; an epoch's start counts
 *   with its first batch. Time that is not aligned (other loaders of the thread, batches that only
 *   one rank has) counts as the mean of the ranks. So the job's ratio is that of its ranks if they
 *   are all alike.
 * - Steps are aligned by (epoch, batch). That they belong together is checked: if one rank waits
 *   longer than all others, its steps must not be longer than theirs. Lag = (its steps - the mean
 *   of the others') over the excess of its wait, summed: 0 if all wait for each other, 1 or more if
 *   none does. The narrowest windows (window.h) in which the lag is small count: of one step, or of
 *   as many as there are between two meetings.
 * - The longest waits are the most that a job can have lost: a rank that waits may still not be the
 *   last to arrive if another one computes longer. If waits lengthen their steps by just their
 *   length, the loss is exact.
 * - If the ordinals cannot align the steps (a rank was restarted, records are missing), time is cut
 *   into bins of several steps, with windows of bins; there the late rank may do no fewer batches
 *   than the others.
 * - Ranks that never meet get ever further apart: rank_group.h. If there are such groups, and the
 *   ranks of one do wait for each other, each is judged by itself, and the finding is that of the
 *   group which loses the largest share of its time. Groups with the same pace cannot be
 *   distinguished from ranks that meet, and stay together.
 * - If neither steps nor bins show that ranks wait for each other, they are judged one by one, and
 *   the job's ratio is that of all their time.
 *
 * Memory is bounded: see WINDOW_MOST.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/account/series.h"
#include "analysis/ranks/rank_job.h"

#define RANK_MOST_LAG 0.2  /* a larger `lag`, above RANK_NOISE, means that ranks do not wait for
			    * each other */
#define RANK_NOISE    0.01 /* a share of the time below which differences are noise */
#define RANK_COMMON   0.9  /* this share of the batches must be aligned with another rank's */

/*
 * Adds a rank to a job, which begins as all zero. `epochs` ascend; without any, the clock is not
 * known. Returns 0 or -ENOMEM.
 */
int rank_add(struct rank_job *job, const struct batch_series *series, const struct finding *finding,
	     const struct rank_epoch *epochs, size_t epoch_count);

/*
 * Judges a job, and fills `blames`, one for each rank. Afterwards the job's groups are those of the
 * finding, or one of all ranks. Returns 0 or -ENOMEM.
 */
int rank_judge(struct rank_job *job, struct rank_blame *blames, struct rank_finding *ret);

/* Withdraws the verdict, and all blame, because one rank's waits may not be the training's. */
void rank_doubt(struct rank_blame *blames, size_t count, struct rank_finding *job);

void rank_free_windows(struct rank_job *job);
void rank_done(struct rank_job *job);

/* Names of alignments in JSON: "step", "clock", "none". */
extern const char *const rank_alignment_names[RANK_ALIGNMENTS];
