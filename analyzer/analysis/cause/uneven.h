/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uneven.h - finds epochs of an iterable dataset in which some workers run out of data first.
 *
 * PyTorch deals batches out in turn, so of each W batches (a round; W: number of workers) each
 * worker with data makes one. A worker that makes none in an epoch's last two rounds has ended
 * early. Shards are uneven if for some m < W all of this holds:
 * - half of the waiting for batches that were not ready, or more, comes while only m workers load;
 * - a batch is then waited for at least twice as long as before (else workers are always too slow,
 *   or share a limit);
 * - a tenth of the steady batches or more comes before only m load, to compare with;
 * - half of all batches or more are in epochs that end so. An epoch that was left early does not.
 */
#pragma once

#include "analysis/account/stall.h"

#define UNEVEN_NAMED 4

/* At the end of an epoch only m of the workers load. Means over the epochs with the least m. */
struct uneven {
	int32_t loading; /* m, workers that still load at an epoch's end; 0: shards are even */
	double share;    /* share of an epoch's batches that the m workers load */
	double begin;    /* batches of an epoch until all workers but m have finished */
	double batches;
	double wait_share; /* share of all waiting that comes while only m workers load */
	int16_t list[UNEVEN_NAMED];
	size_t named; /* workers in `list`; 0: they differ between epochs, or are too many */
};

/* If `is_asking`, waits for finished batches count, too, because busy workers answer late. */
void uneven_find(const struct batch_series *series, const struct finding *finding, bool is_asking,
		 struct uneven *ret);
