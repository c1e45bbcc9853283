/* SPDX-License-Identifier: Apache-2.0 */
/* needed.h - finds how many workers to use. */
#pragma once

#include "analysis/predict/replay.h"

struct needed {
	int32_t enough;   /* workers for 95 % of the rate without loading times; -1: no number is */
	bool core_limited; /* `enough` is -1 because the cores do not suffice */
	/* Number of workers to try: `enough`, but not more than the cores can keep at work, than 8
	 * times today's, or than 16 if there are none. -1: no more than today's. */
	int32_t more;
	/* Number of workers that the cores can keep at work, if there are clearly more; else -1. */
	int32_t fewer;
};

/* Finds `enough`, `more` and `fewer`. `now` is the run as it was; `cores` NAN: unknown. */
struct needed needed_find(const struct trace *trace, const struct replay_setup *now, double cores);
