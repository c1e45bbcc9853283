/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd.h - the same as replay.h where threads share cores.
 *
 * Each load and each step works for a part of its time, as the run's did on average, and is blocked
 * for the rest: first the one, then the other. Those that work progress at the pace that the
 * scheduler gives to as many threads as the run has at work just then (share.h). What the run took
 * longer for want of cores has been taken out first: while it worked it had trace->got of a core.
 */
#pragma once

#include "analysis/predict/replay.h"

/* Whether cores can make a difference: no pace that may occur is another than the run's. */
bool crowd_matters(const struct trace *trace, const struct replay_setup *setup);

/*
 * Batches a second for which the cores suffice if all threads can always run; INFINITY where
 * nothing is known of them.
 */
double crowd_most(const struct trace *trace, const struct replay_setup *setup);

/* Whichever of the two replays it takes. `want`: of what the neighbours wanted in the run. */
struct replay_result crowd_replay(const struct trace *trace, const struct replay_setup *setup,
				  double want);
