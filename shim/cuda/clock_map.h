/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_map.h - converts times from the clock of CUPTI's records to CLOCK_MONOTONIC.
 *
 * CUPTI's clock is CLOCK_REALTIME, which may be set, or another one that a user of CUPTI chose,
 * such as ticks of the CPU. So it is assumed to run evenly only between two *looks*, each of which
 * reads both clocks. If a look does not fit the last ones, a new *stretch* begins; a record's time
 * is converted within its stretch. Pure, and used by one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_MAP_PAIRS 256 /* looks kept: one a second, as records come seconds late */

struct clock_pair {
	uint64_t mono_ns;
	uint64_t cupti_ns;
	bool first; /* the look begins a stretch */
};

struct clock_map {
	struct clock_pair pairs[CLOCK_MAP_PAIRS];
	uint32_t count;  /* looks added; the last CLOCK_MAP_PAIRS are in `pairs` */
	bool broken;     /* the next look begins a stretch */
	uint64_t now_ns; /* time of the last look, added or not: no record is newer */
};

/*
 * Adds a look. Returns true if it begins a stretch: then take another look a few milliseconds
 * later, which shows how fast the clock runs now.
 */
bool clock_map_add(struct clock_map *map, uint64_t mono_ns, uint64_t cupti_ns);

/*
 * Returns true if a look continues the stretch, so that it need not be added. Call it just before
 * reading records: if the clock is set back later, one time means two moments.
 */
bool clock_map_fits(struct clock_map *map, uint64_t mono_ns, uint64_t cupti_ns);

/* Makes the next look begin a new stretch. */
void clock_map_break(struct clock_map *map);

/* Converts a time. Returns false if no look is near it. */
bool clock_map_convert(const struct clock_map *map, uint64_t cupti_ns, uint64_t *ret_mono_ns);

/* Returns the speed of CUPTI's clock against ours in the newest stretch; 1 if that has one look. */
double clock_map_rate(const struct clock_map *map);
