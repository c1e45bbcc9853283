/* SPDX-License-Identifier: Apache-2.0 */
/*
 * skipped.h - finds batches that the training throws away at the start of epochs.
 *
 * A training that goes on from a checkpoint often takes the batches again that it trained with
 * before, and drops them. Batches at the start of an epoch are skipped if all of these hold:
 * - their steps take at most a tenth of the mean step, and at most 0.2 ms; five in a hundred may
 *   take longer, because other programs had the core;
 * - there are SKIPPED_FEWEST or more of them in a row, and as many other batches in the run;
 * - the epoch goes on with longer steps;
 * - they cause at least half of the waiting for batches that were not ready;
 * - the run's GPU, if any, was idle meanwhile.
 */
#pragma once

#include "analysis/account/stall.h"

#define SKIPPED_FEWEST 20

struct skipped {
	size_t count;      /* skipped batches; 0: none are */
	double wait_ns;    /* waits for the skipped batches */
	double wait_share; /* their share of the waiting for batches that were not ready */
};

void skipped_find(const struct batch_series *series, const struct finding *finding, bool has_gpu,
		  struct skipped *ret);
