/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uneven.h - finds epochs of an iterable dataset in which some workers run out of data before the
 * others.
 *
 * PyTorch deals batches out to the workers in turn, so a worker that still has data makes one in
 * each round of W batches (W = workers). A worker that makes none of an epoch's last two rounds has
 * ended early. Shards are uneven if there is a number m < W so that all of these hold:
 * - half of the waiting for batches that were not ready, or more, comes while only m workers load;
 * - a batch is then waited for at least twice as long as before. If the workers were too slow all
 *   the time, or shared a limit, the end of an epoch would wait like its begin, and dealing the
 *   data out evenly would not help;
 * - a tenth of the steady batches or more comes before that, to compare with;
 * - half of all batches or more are in epochs that have such an end. An epoch that was left early
 *   has none.
 */
#pragma once

#include "analysis/account/stall.h"

#define UNEVEN_NAMED 4 /* largest number of workers that are named */

/* The smallest m for which the conditions hold. Means are over the epochs with such an end. */
struct uneven {
	int32_t loading; /* workers that still load at the end of an epoch; 0: shards are even */
	double share;    /* these workers' share of an epoch's batches */
	double begin;    /* batches of an epoch before only they load */
	double batches;  /* batches of an epoch */
	double wait_share; /* share of the waiting while only they load */
	int16_t list[UNEVEN_NAMED];
	size_t named; /* length of `list`; 0: they differ from epoch to epoch, or are too many */
};

/* Finds uneven shards in a judged series. */
void uneven_find(const struct batch_series *series, const struct finding *finding,
		 struct uneven *ret);
