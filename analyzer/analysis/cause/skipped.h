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
 *
 * A training may also pass over the whole loader without using a batch, say to count them. Such a
 * pass is an epoch of which three quarters of the steps take at most 50 us (validation takes
 * longer), and all steps, on average, at most 2 % of the mean step. There are SKIPPED_FEWEST
 * batches or more in passes, and as many in other epochs, and passes take 5 % of the time or more.
 */
#pragma once

#include "analysis/account/stall.h"

#define SKIPPED_FEWEST  20
/* a skipped step takes at most this; launching real passes takes more */
#define SKIPPED_STEP_NS 2e5

struct skipped {
	size_t count;      /* skipped batches; 0: none are */
	double wait_ns;    /* waits for the skipped batches */
	double wait_share; /* share of the waiting for batches not ready that is for skipped ones */
};

struct passes {
	size_t epoch_count; /* 0: there are no passes */
	size_t count;       /* number of batches in the passes */
	double not_ready_ns, received_ns; /* waits for the passes' batches, by reason */
	double time_ns; /* all waits of the passes, and the starts of their epochs */
};

void skipped_find(const struct batch_series *series, const struct finding *finding, bool has_gpu,
		  struct skipped *ret);

void skipped_find_passes(const struct batch_series *series, const struct finding *finding,
			 bool has_gpu, struct passes *ret);
