/* SPDX-License-Identifier: Apache-2.0 */
/* stamps.h - the clock of CUPTI's times: CLOCK_REALTIME, or the clock that a client registered. */
#pragma once

#include <stdint.h>

void stamp_source(uint64_t (*source)(void));
uint64_t stamp_now(void);

/* now_ns() and CUPTI's clock at one time, and how many times as fast CUPTI's clock goes. */
struct stamp_pair {
	uint64_t ns, stamp;
	double slope;
};

struct stamp_pair stamp_pair_now(void);
uint64_t stamp_of(const struct stamp_pair *pair, uint64_t ns);
