/* SPDX-License-Identifier: Apache-2.0 */
/* needed.h - finds how many workers to use. */
#pragma once

#include "analysis/predict/replay.h"

struct needed {
	/* fewest workers that reach 95 % of the rate if loads took no time; -1: not even 512 do */
	int32_t enough;
	bool core_limited; /* `enough` is -1 because there are too few cores */
	/* Number of workers to try: `enough`, but at most what the cores keep busy, and at most 8
	 * times the run's workers (16 if it has none). -1: the run already has as many. */
	int32_t more;
	/* number of workers that the cores keep busy, if the run has more; else -1 */
	int32_t fewer;
};

/* `cores` is NAN if unknown. */
struct needed needed_find(const struct trace *trace, const struct replay_setup *now, double cores);
