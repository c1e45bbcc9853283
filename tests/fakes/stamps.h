/* SPDX-License-Identifier: Apache-2.0 */
/* stamps.h - CUPTI's own clock: CLOCK_REALTIME, or what a client registered. */
#pragma once

#include <stdint.h>

void stamp_source(uint64_t (*source)(void));
uint64_t stamp_now(void);

/* Both clocks at one time, and how much faster CUPTI's goes. */
struct stamp_pair {
	uint64_t ns, stamp;
	double slope;
};

struct stamp_pair stamp_pair_now(void);
uint64_t stamp_of(const struct stamp_pair *pair, uint64_t ns);
