/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd.h - the replay of replay.h for threads that compete for cores.
 *
 * Each load and step works for a part of its time, at the scheduler's pace (share.h), and is
 * blocked for the rest.
 */
#pragma once

#include "analysis/predict/replay.h"

/* Returns true if some thread's pace may differ from the run's. */
bool crowd_matters(const struct trace *trace, const struct replay_setup *setup);

/* Returns batches per second if only the cores limited them; INFINITY if cores are unknown. */
double crowd_most(const struct trace *trace, const struct replay_setup *setup);

/* `want` multiplies the cores that other programs want. */
struct replay_result crowd_replay(const struct trace *trace, const struct replay_setup *setup,
				  double want);
