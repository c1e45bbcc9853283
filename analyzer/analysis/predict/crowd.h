/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd.h - replays a run like replay.h, but with threads that compete for cores.
 *
 * Each load and step works for a part of its time, at the scheduler's pace (share.h), and is
 * blocked for the rest.
 */
#pragma once

#include "analysis/predict/replay.h"

/* Returns true if the pace of a thread may differ from that in the run. */
bool crowd_matters(const struct trace *trace, const struct replay_setup *setup);

/* Returns batches per second if only the cores limited them; INFINITY if cores are unknown. */
double crowd_most(const struct trace *trace, const struct replay_setup *setup);

/* `want` is a factor on the cores that other programs want. */
struct replay_result crowd_replay(const struct trace *trace, const struct replay_setup *setup,
				  double want);
