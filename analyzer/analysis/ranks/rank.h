/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank.h - judges the ranks of one job together: whether the job waits for data, and for which
 * rank's.
 *
 * Ranks that train together meet in a collective operation every step. The one whose batch is late
 * waits for data; the others wait for it, inside their step, and look busy. So a step loses the
 * longest wait of any rank, and the rank with that wait is to blame for the step.
 *
 * - Waiting is what account.h counts as such, for every batch but a run's first. An epoch's start
 *   counts with its first batch. Of time that cannot be aligned (other loaders of the thread,
 *   batches that only one rank has), the mean over the ranks counts. So if all ranks are alike, the
 *   job's ratio is theirs.
 * - Steps are aligned by (epoch, batch). This alignment is checked: while one rank waits longer
 *   than all others, its steps must not be longer than theirs. Lag = (its steps - the mean of the
 *   others') over the excess of its wait, summed: 0 if all wait for each other, 1 or more if none
 *   does. Of the windows in window.h, the narrowest in which the lag is small are used: they have
 *   one step, or as many as there are between two meetings.
 * - The sum of the longest waits is an upper bound of what the job lost: a rank that waits need not
 *   be the last to arrive, if another one computes longer. If steps are longer by just the length
 *   of their waits, it is exact.
 * - If ordinals do not align the steps (a rank was restarted, or records are missing), the clock is
 *   used: time is cut into bins of several steps, and windows are made of bins. There, the rank
 *   that waits longest must do as many batches as the others.
 * - Groups of ranks that never meet get ever further apart (rank_group.h). If there are such
 *   groups, and the ranks of at least one wait for each other, each group is judged by itself, and
 *   the finding is about the group that loses the largest share of its time. Groups of the same
 *   pace look like ranks that meet, and are judged as one.
 * - If neither steps nor bins show that ranks wait for each other, there is no culprit, and the
 *   job's ratio is all waiting / all time.
 *
 * Memory is bounded: see WINDOW_MOST.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/account/series.h"
#include "analysis/ranks/rank_job.h"

#define RANK_MOST_LAG 0.2  /* above this `lag`, and RANK_NOISE, ranks do not wait for each other */
#define RANK_NOISE    0.01 /* smaller shares of the time are noise */
/* ranks are aligned only if at least this share of batches has another rank's beside it */
#define RANK_COMMON   0.9

/* The job is all zero before its first rank. `epochs` ascend; none: the clock is unknown. */
int rank_add(struct rank_job *job, const struct batch_series *series, const struct finding *finding,
	     const struct rank_epoch *epochs, size_t epoch_count);

/* Fills `blames`, one for each rank. The job keeps its groups if the finding is about groups. */
int rank_judge(struct rank_job *job, struct rank_blame *blames, struct rank_finding *ret);

/* Takes back verdict and blame: a rank's waits may not be the training's. */
void rank_doubt(struct rank_blame *blames, size_t count, struct rank_finding *job);

void rank_free_windows(struct rank_job *job);
void rank_done(struct rank_job *job);

/* Names in JSON. */
extern const char *const rank_alignment_names[RANK_ALIGNMENTS];
