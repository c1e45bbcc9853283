/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd.h - replays a run like replay.h, but with threads that compete for cores.
 *
 * A load or step needs a core for a part of its time. In that part it gets the share of a core that
 * the scheduler would give it (share.h). In the rest of its time it is blocked.
 */
#pragma once

#include "analysis/predict/replay.h"

/* Returns true if with this setup threads may get another share of a core than in the run. */
bool crowd_matters(const struct trace *trace, const struct replay_setup *setup);

/* Returns how many batches a second the cores allow; INFINITY: the number of cores is unknown. */
double crowd_most(const struct trace *trace, const struct replay_setup *setup);

/* Replays the run. Other programs want `want` times as many cores as in the run. */
struct replay_result crowd_replay(const struct trace *trace, const struct replay_setup *setup,
				  double want);
