/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/clock_map.h"

#include <stddef.h>

#define SLACK_NS                                                                                   \
	1000000 /* two looks that differ by more from an even clock do not fit together            \
		 */
#define REACH_NS 10000000000 /* so far from the nearest look a time may lie */

static const struct clock_pair *pair_at(const struct clock_map *map, uint32_t number)
{
	return &map->pairs[number % CLOCK_MAP_PAIRS];
}

static uint32_t oldest(const struct clock_map *map)
{
	return map->count > CLOCK_MAP_PAIRS ? map->count - CLOCK_MAP_PAIRS : 0;
}

/* mono per cupti, between two looks of a stretch. */
static double slope(const struct clock_pair *a, const struct clock_pair *b)
{
	int64_t cupti_ns = (int64_t)(b->cupti_ns - a->cupti_ns);

	return cupti_ns > 0 ? (double)(int64_t)(b->mono_ns - a->mono_ns) / (double)cupti_ns : 1;
}

#define BASE_NS 500000000 /* looks that are nearer together say little of the clock's speed */

/*
 * The slope after look `number`: up to the next, or, of the newest, what it was lately. Looks that
 * are too near together only tell a clock that runs like ours from one that does not.
 */
static double slope_at(const struct clock_map *map, uint32_t number)
{
	const struct clock_pair *pair = pair_at(map, number), *before = NULL;
	double found;

	if (number + 1 < map->count && !pair_at(map, number + 1)->first)
		return slope(pair, pair_at(map, number + 1));
	for (uint32_t i = number; !pair_at(map, i)->first && i > oldest(map); i--) {
		before = pair_at(map, i - 1);
		if (pair->mono_ns - before->mono_ns >= BASE_NS)
			return slope(before, pair);
	}
	found = before ? slope(before, pair) : 1;
	return found > 0.999 && found < 1.001 ? 1 : found;
}

static int64_t project(const struct clock_map *map, uint32_t number, uint64_t cupti_ns)
{
	const struct clock_pair *pair = pair_at(map, number);
	double ns = (double)(int64_t)(cupti_ns - pair->cupti_ns) * slope_at(map, number);

	if (ns > 1e15 || ns < -1e15)
		return INT64_MIN / 2;
	return (int64_t)pair->mono_ns + (int64_t)ns;
}

bool clock_map_add(struct clock_map *map, uint64_t mono_ns, uint64_t cupti_ns)
{
	const struct clock_pair *before = map->count ? pair_at(map, map->count - 1) : NULL;
	bool first = true;
	int64_t off;

	if (before && !map->broken && cupti_ns > before->cupti_ns) {
		off = project(map, map->count - 1, cupti_ns) - (int64_t)mono_ns;
		/* The second look of a stretch tells how fast the clock is. */
		first = !before->first && (off > SLACK_NS || off < -SLACK_NS);
	}
	map->pairs[map->count++ % CLOCK_MAP_PAIRS] = (struct clock_pair){mono_ns, cupti_ns, first};
	map->broken = false;
	return first;
}

void clock_map_break(struct clock_map *map)
{
	map->broken = true;
}

bool clock_map_convert(const struct clock_map *map, uint64_t cupti_ns, uint64_t *ret_mono_ns)
{
	for (uint32_t i = map->count; i-- > oldest(map);) {
		const struct clock_pair *pair = pair_at(map, i);
		const bool last = i + 1 == map->count;
		int64_t begin = (int64_t)pair->mono_ns, end, at = project(map, i, cupti_ns);

		if (at == INT64_MIN / 2)
			continue;
		/* A first look covers the time back to the look before it, too, and a last one the
		 * time to the next. */
		if (pair->first)
			begin = i > oldest(map) ? (int64_t)pair_at(map, i - 1)->mono_ns
						: begin - REACH_NS;
		end = last ? (int64_t)pair->mono_ns + REACH_NS
			   : (int64_t)pair_at(map, i + 1)->mono_ns;
		if (at < begin || at > end || at < 0)
			continue;
		*ret_mono_ns = (uint64_t)at;
		return true;
	}
	return false;
}

double clock_map_rate(const struct clock_map *map)
{
	double ns = map->count ? slope_at(map, map->count - 1) : 1;

	return ns > 0 ? 1 / ns : 1;
}
