/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank.h - judges a job's ranks together: does the job wait for data, and which rank is to blame?
 *
 * Ranks that train together meet in a collective operation in every step. The rank whose batch is
 * late waits for data. The other ranks wait for that rank, inside their step, and look busy. So a
 * step loses the longest wait of any rank, and the rank with that wait is to blame for the step.
 *
 * - Waiting is defined in account.h, but a step here includes its wait. A run's first batch does
 *   not count, and an epoch's start counts with its first batch. Time that cannot be aligned (other
 *   loaders, batches that only one rank has) counts as its mean over the ranks.
 * - Steps are aligned by (epoch, batch). To check this, lag = sum of (steps of the rank that waits
 *   longest - mean of the others' steps) / sum of (longest wait - second longest wait). Lag is 0 if
 *   all ranks wait for each other, and 1 or more if no rank does. Windows of steps (window.h) are
 *   as narrow as a small lag allows, since ranks may meet only in every k-th step.
 * - The sum of the longest waits is an upper bound of what the job lost, because another rank may
 *   compute for longer than the wait. The sum is exact if steps are longer by just their waits.
 * - If ordinals do not align the steps (a rank was restarted, or records are missing), bins of time
 *   do. Then windows consist of bins, and the rank that waits longest must make as many batches as
 *   the others.
 * - Groups of ranks that never meet get ever further apart (rank_group.h). If ranks of at least one
 *   group wait for each other, each group is judged by itself, and the finding is about the group
 *   that loses the largest share of its time. Groups of the same pace are judged as one group.
 * - If neither steps nor bins show that ranks wait for each other, there is no culprit, and the
 *   job's ratio is all waiting / all time.
 *
 * Memory is bounded by WINDOW_MOST.
 */
#pragma once

#include <stddef.h>

#include "analysis/account/series.h"
#include "analysis/ranks/rank_job.h"

#define RANK_MOST_LAG 0.2  /* ranks wait for each other if the lag (above) is at most this */
#define RANK_NOISE    0.01 /* smaller shares of the time are noise */
/* ranks are aligned if, for at least this share of batches, another rank has the same batch */
#define RANK_COMMON   0.9

/* Adds a rank to a job, at first all zero. Without `epochs` (ascending), its clock is unknown. */
int rank_add(struct rank_job *job, const struct batch_series *series, const struct finding *finding,
	     const struct rank_epoch *epochs, size_t epoch_count);

/* Judges the job. Fills `blames`, one for each rank. Joins groups that are judged as one. */
int rank_judge(struct rank_job *job, struct rank_blame *blames, struct rank_finding *ret);

/* Takes back verdict and blame: in some rank, the thread that waits may not be one that trains. */
void rank_doubt(struct rank_blame *blames, size_t count, struct rank_finding *job);

void rank_free_windows(struct rank_job *job);
void rank_done(struct rank_job *job);

/* Names in JSON. */
extern const char *const rank_alignment_names[RANK_ALIGNMENTS];

/*
 * Finds signs that ranks were aligned wrongly: they number their first batches differently, or a
 * rank begins and ends earlier, or later, than the others.
 */
int rank_place_judge(const struct rank_job *job, struct rank_finding *ret);
