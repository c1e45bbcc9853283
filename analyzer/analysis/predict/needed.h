/* SPDX-License-Identifier: Apache-2.0 */
/* needed.h - finds how many workers to use. */
#pragma once

#include "analysis/predict/replay.h"

struct needed {
	int32_t enough;   /* fewest workers that reach 95 % of the rate without loads; -1: none */
	bool core_limited; /* `enough` is -1 because there are too few cores */
	/* Number of workers to try: `enough`, but at most what the cores can keep working, and at
	 * most 8 times the run's workers (16 if it has none). -1: not more than in the run. */
	int32_t more;
	/* Number of workers that the cores can keep working if the run has more; else -1. */
	int32_t fewer;
};

/* Finds these numbers. `now` is the run's own setup; `cores` is NAN if unknown. */
struct needed needed_find(const struct trace *trace, const struct replay_setup *now, double cores);
