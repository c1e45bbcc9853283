/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank.h - the ranks of one job: does the job wait for data, and for whose?
 *
 * Ranks that train together meet in a collective operation every step. The one whose batch is late
 * waits for data; the others wait for it, inside their step, and look busy. So what a step lost is
 * the longest wait among the ranks, and the rank that had it is to blame for the step.
 *
 * - Waiting is what account.h counts: of every batch but a run's first, and what begins an epoch
 *   with the epoch's first batch. What is not aligned (other loaders of the thread, batches that
 *   only one rank has) counts as the mean of the ranks. So the job's ratio is that of its ranks
 *   where they are all alike.
 * - Steps are aligned by (epoch, batch). That they belong together is checked: where one rank
 *   waits longer than all others, its steps must not be longer than theirs. Lag = (its steps - the
 *   mean of the others') over what it waited longer, summed: 0 where all wait for each other, 1
 *   or more where none does. The narrowest windows (window.h) in which the lag is small count: of
 *   one step, or of as many as there are between two meetings.
 * - The longest waits are the most that a job can have lost: a rank that waits may still not be
 *   the last to arrive where another one computes longer. Where steps are longer by just what is
 *   waited in them, the loss is exact.
 * - Where the ordinals do not tell (a rank was restarted, records are missing), time is cut into
 *   bins of several steps, with windows of bins; there the late rank may do no fewer
 *   batches than the others.
 * - Ranks that never meet get ever further apart: rank_group.h. Where there are such groups, and
 *   the ranks of one do wait for each other, each is judged by itself, and the finding is that of
 *   the group which loses the largest share of its time. Groups that are as fast as each other
 *   cannot be told from ranks that meet, and stay together.
 * - Where neither steps nor bins show that ranks wait for each other, they are judged one by one,
 *   and the job's ratio is that of all their time.
 *
 * Memory is bounded: see WINDOW_MOST.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/account/series.h"
#include "analysis/ranks/rank_job.h"

#define RANK_MOST_LAG 0.2  /* ranks with a larger `lag`, above RANK_NOISE, do not wait for each
			    * other */
#define RANK_NOISE    0.01 /* share of the time */
#define RANK_COMMON   0.9  /* share of the batches that must be aligned with another rank's */

/*
 * Adds a rank. A job begins as all zero. `epochs` ascend; without any, the clock is not known. 0 or
 * -ENOMEM.
 */
int rank_add(struct rank_job *job, const struct batch_series *series, const struct finding *finding,
	     const struct rank_epoch *epochs, size_t epoch_count);

/*
 * Judges a job, and fills `blames`, one for each rank. The job's groups are then those of the
 * finding, or one of all ranks. 0 or -ENOMEM.
 */
int rank_judge(struct rank_job *job, struct rank_blame *blames, struct rank_finding *ret);

/* Withdraws the verdict, and all blame, because one rank's waits may not be the training's. */
void rank_doubt(struct rank_blame *blames, size_t count, struct rank_finding *job);

void rank_free_windows(struct rank_job *job);
void rank_done(struct rank_job *job);

/* Names in JSON: "step", "clock", "none". */
extern const char *const rank_alignment_names[RANK_ALIGNMENTS];
