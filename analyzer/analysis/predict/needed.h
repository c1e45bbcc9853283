/* SPDX-License-Identifier: Apache-2.0 */
/* needed.h - how many workers to use. */
#pragma once

#include "analysis/predict/replay.h"

struct needed {
	int32_t enough;    /* workers for 95 % of the rate of loads that take no time; -1: none */
	bool core_limited; /* `enough` is -1 because the cores do not suffice */
	/* Workers to try: as many as are enough, but not more than the cores can keep at work, than
	 * 8 times today's, or than 16 where there are none. -1: no more than today's. */
	int32_t more;
	/* Workers that the cores can keep at work, where there are clearly more; or -1. */
	int32_t fewer;
};

/* `now` is the run as it was; `cores` are those that it may use, NAN: unknown. */
struct needed needed_find(const struct trace *trace, const struct replay_setup *now, double cores);
