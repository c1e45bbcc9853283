/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_map.h - converts times from the clock of CUPTI's records to CLOCK_MONOTONIC.
 *
 * Other users can change CUPTI's clock. So a *look* reads both clocks now and then, and one that
 * does not fit the last begins a new *stretch*. Times are converted within a stretch. For one
 * thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_MAP_PAIRS 256 /* looks kept: one a second, as records come seconds late */

struct clock_pair {
	uint64_t mono_ns;
	uint64_t cupti_ns;
	bool first;
};

struct clock_map {
	struct clock_pair pairs[CLOCK_MAP_PAIRS];
	uint32_t count;  /* looks added; `pairs` has the last ones */
	bool broken;     /* the next look begins a stretch */
	uint64_t now_ns; /* time of the last look: no record is newer */
};

/* Returns true if a stretch begins: look again some ms later, to learn how fast the clock runs. */
bool clock_map_add(struct clock_map *map, uint64_t mono_ns, uint64_t cupti_ns);

/* Returns true if the look continues the stretch, and need not be added. */
bool clock_map_fits(struct clock_map *map, uint64_t mono_ns, uint64_t cupti_ns);

void clock_map_break(struct clock_map *map);

/* Returns false if there is no look near the time. */
bool clock_map_convert(const struct clock_map *map, uint64_t cupti_ns, uint64_t *ret_mono_ns);

/* Returns the speed of CUPTI's clock against ours; 1 after a single look. */
double clock_map_rate(const struct clock_map *map);
