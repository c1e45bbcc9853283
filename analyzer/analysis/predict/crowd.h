/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd.h - the replay of replay.h where threads share cores.
 *
 * Each load and each step works for a part of its time, as the run's did on average, and is blocked
 * for the rest. Threads at work progress at the pace that the scheduler gives to as many threads as
 * the run has at work just then (share.h). What loads and steps took longer in the run for want of
 * cores (trace->load_got, step_got) has been taken out first.
 */
#pragma once

#include "analysis/predict/replay.h"

/* Whether sharing cores makes a difference, as some pace may differ from the run's. */
bool crowd_matters(const struct trace *trace, const struct replay_setup *setup);

/*
 * Batches a second that the cores allow if all threads can always run; INFINITY where nothing is
 * known of the cores.
 */
double crowd_most(const struct trace *trace, const struct replay_setup *setup);

/* Replays with shared cores where they matter. `want`: factor on what the neighbours wanted. */
struct replay_result crowd_replay(const struct trace *trace, const struct replay_setup *setup,
				  double want);
