/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd.h - the replay of replay.h for threads that compete for cores.
 *
 * Each load and step works for a part of its time (the mean of the run), and is blocked for the
 * rest. A working thread advances at the pace that the scheduler gives it while that many threads
 * of the run work (share.h). What loads and steps lost in the run for lack of cores
 * (trace->load_got, step_got) is removed first.
 */
#pragma once

#include "analysis/predict/replay.h"

/* Returns true if competing for cores matters: some thread's pace may differ from the run's. */
bool crowd_matters(const struct trace *trace, const struct replay_setup *setup);

/*
 * Returns the rate, in batches a second, that the cores allow if all threads can always run;
 * INFINITY if the cores are not known.
 */
double crowd_most(const struct trace *trace, const struct replay_setup *setup);

/* Replays with competition for cores if it matters. `want`: factor on what other programs want. */
struct replay_result crowd_replay(const struct trace *trace, const struct replay_setup *setup,
				  double want);
