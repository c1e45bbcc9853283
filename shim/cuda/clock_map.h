/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock_map.h - from the clock of CUPTI's records to CLOCK_MONOTONIC.
 *
 * CUPTI's clock is CLOCK_REALTIME, which may be set, or whatever another user of CUPTI made it:
 * ticks of the CPU. So it is only believed to run evenly between two looks at both clocks. Where
 * the looks do not fit together, a new *stretch* begins, and a time of the record is what falls
 * within the stretch that it is of. Pure, and of one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_MAP_PAIRS 256 /* looks that are kept: one a second, records are seconds late */

struct clock_pair {
	uint64_t mono_ns;
	uint64_t cupti_ns;
	bool first; /* of a stretch */
};

struct clock_map {
	struct clock_pair pairs[CLOCK_MAP_PAIRS];
	uint32_t count;  /* of all that were added; the last CLOCK_MAP_PAIRS are there */
	bool broken;     /* the next look is a first */
	uint64_t now_ns; /* of the last look, kept or not: no record is from later */
};

/*
 * One more look. True: it does not go on from the one before, so take another a few milliseconds
 * later, which shows how fast the clock runs now.
 */
bool clock_map_add(struct clock_map *map, uint64_t mono_ns, uint64_t cupti_ns);

/*
 * Whether a look goes on from the one before, so that there is no need to keep it: to be asked
 * right before records are read, because a clock that was set back makes two times of one.
 */
bool clock_map_fits(struct clock_map *map, uint64_t mono_ns, uint64_t cupti_ns);

/* The next look is the first of a stretch, whatever it shows. */
void clock_map_break(struct clock_map *map);

/* False: no look is near it. */
bool clock_map_convert(const struct clock_map *map, uint64_t cupti_ns, uint64_t *ret_mono_ns);

/* CUPTI's nanoseconds per nanosecond in the newest stretch; 1 where it has one look. */
double clock_map_rate(const struct clock_map *map);
