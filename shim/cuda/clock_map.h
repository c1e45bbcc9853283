/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_map.h - converts times from the clock of CUPTI's records to CLOCK_MONOTONIC.
 *
 * Both clocks are read together again and again, because other users of CUPTI can change its clock.
 * A reading that does not fit the previous one begins a new section of the map. A time is converted
 * by readings of one section only. Only one thread may use a map.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_MAP_PAIRS 256 /* number of readings kept, one a second: records come seconds late */

struct clock_pair {
	uint64_t mono_ns;
	uint64_t cupti_ns;
	bool first;
};

struct clock_map {
	struct clock_pair pairs[CLOCK_MAP_PAIRS];
	uint32_t count;  /* number of all readings; `pairs` has the last ones */
	bool broken;     /* the next reading begins a new section */
	uint64_t now_ns; /* time of the last reading: no record is later than this */
};

/* Adds a reading. True: it begins a section, and a second is needed to know the clock's speed. */
bool clock_map_add(struct clock_map *map, uint64_t mono_ns, uint64_t cupti_ns);

/* Returns true if a reading fits the section so well that it need not be added. */
bool clock_map_fits(struct clock_map *map, uint64_t mono_ns, uint64_t cupti_ns);

void clock_map_break(struct clock_map *map);

/* Returns false if no reading is near enough to convert the time. */
bool clock_map_convert(const struct clock_map *map, uint64_t cupti_ns, uint64_t *ret_mono_ns);

/* Returns CUPTI's clock's speed / our clock's speed; 1 if the section has a single reading. */
double clock_map_rate(const struct clock_map *map);
