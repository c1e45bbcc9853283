/* SPDX-License-Identifier: Apache-2.0 */
/* needed.h - finds how many workers to use. */
#pragma once

#include "analysis/predict/replay.h"

struct needed {
	/* fewest workers for 95 % of the rate without load times; -1: none suffice */
	int32_t enough;
	bool core_limited; /* `enough` is -1 because there are too few cores */
	/* Workers to try; -1: no more than in the run. `enough`, but at most what the cores keep
	 * working, and at most 8 times the run's workers (16 if it has none). */
	int32_t more;
	/* Workers that the cores keep working, if these are fewer than the run's; else -1. */
	int32_t fewer;
};

/* `cores` is NAN if unknown. */
struct needed needed_find(const struct trace *trace, const struct replay_setup *now, double cores);
