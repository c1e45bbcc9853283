/* SPDX-License-Identifier: Apache-2.0 */
/* needed.h - finds how many workers to use. */
#pragma once

#include "analysis/predict/replay.h"

struct needed {
	/* fewest workers for 95 % of the rate that loads without duration allow; -1: over 512 */
	int32_t enough;
	bool core_limited; /* `enough` is -1 because there are too few cores */
	/* Number of workers to try: `enough`, unless fewer keep the cores busy, but at most 8 times
	 * the run's workers (16 if the run has none). -1: the run already has as many. */
	int32_t more;
	/* number of workers that keep all cores busy, if the run has 1.25 times as many; else -1 */
	int32_t fewer;
};

/* `cores` is NAN if unknown. */
struct needed needed_find(const struct trace *trace, const struct replay_setup *now, double cores);
