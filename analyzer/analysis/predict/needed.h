/* SPDX-License-Identifier: Apache-2.0 */
/* needed.h - how many workers to use. */
#pragma once

#include "analysis/predict/replay.h"

struct needed {
	int32_t enough;    /* for 95 % of what loads that take no time would bring; -1: none */
	bool core_limited; /* ... because the cores do not suffice */
	/*
	 * What to try: as many as are enough, but not more than the cores can keep at work, than 8
	 * times as many as there are, or than 16 where there are none. -1: no more than there are.
	 */
	int32_t more;
	/* As many as the cores can keep at work, where there are clearly more; -1: there are not.
	 */
	int32_t fewer;
};

/* `now`: the run as it was; `cores` that it may use, NAN: unknown. */
struct needed needed_find(const struct trace *trace, const struct replay_setup *now, double cores);
