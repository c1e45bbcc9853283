/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_map.h - converts times from the clock of CUPTI's records to CLOCK_MONOTONIC.
 *
 * A *look* reads both clocks at once. Looks are repeated, because other users can change CUPTI's
 * clock: a look that does not fit the one before begins a new *stretch*. A time is converted by
 * looks of one stretch. For one thread.
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
	bool broken;     /* the next look begins a new stretch */
	uint64_t now_ns; /* time of the last look, and so after all records */
};

/* Adds a look. If it begins a stretch, returns true: a second look must tell the clock's speed. */
bool clock_map_add(struct clock_map *map, uint64_t mono_ns, uint64_t cupti_ns);

/* Returns true if a look fits the stretch so well that it need not be added. */
bool clock_map_fits(struct clock_map *map, uint64_t mono_ns, uint64_t cupti_ns);

void clock_map_break(struct clock_map *map);

/* Returns false if no look is near enough to convert the time. */
bool clock_map_convert(const struct clock_map *map, uint64_t cupti_ns, uint64_t *ret_mono_ns);

/* Returns the speed of CUPTI's clock relative to ours; 1 if the stretch has a single look. */
double clock_map_rate(const struct clock_map *map);
