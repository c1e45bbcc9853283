/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd.h - the replay of replay.h for threads that share cores.
 *
 * Each load and each step works for a part of its time, as the run's did on average, and is blocked
 * for the rest. Threads at work progress at the pace that the scheduler gives them if as many
 * threads of the run are at work (share.h). The time that loads and steps of the run lost for lack
 * of cores (trace->load_got, step_got) is taken out first.
 */
#pragma once

#include "analysis/predict/replay.h"

/* Returns true if sharing cores makes a difference: some pace may differ from the run's. */
bool crowd_matters(const struct trace *trace, const struct replay_setup *setup);

/*
 * Returns the batches a second that the cores allow if all threads can always run; INFINITY if
 * nothing is known of the cores.
 */
double crowd_most(const struct trace *trace, const struct replay_setup *setup);

/* Replays with shared cores if they matter. `want`: factor on what the neighbours want. */
struct replay_result crowd_replay(const struct trace *trace, const struct replay_setup *setup,
				  double want);
