/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/clock_map.h"

#include <stddef.h>

/* A reading that is further from its expected time begins a new section (see clock_map.h). */
#define SLACK_NS 1000000
#define NOWHERE  (INT64_MIN / 2)
#define REACH_NS 10000000000   /* how long a time may be before the first reading of its section */
#define OLD_NS   3600000000000 /* how long a time may be before the oldest reading in the map */
#define LATE_NS  2000000       /* how long a time may be after the last reading */

static const struct clock_pair *pair_at(const struct clock_map *map, uint32_t number)
{
	return &map->pairs[number % CLOCK_MAP_PAIRS];
}

static uint32_t oldest(const struct clock_map *map)
{
	return map->count > CLOCK_MAP_PAIRS ? map->count - CLOCK_MAP_PAIRS : 0;
}

/* Returns how fast our clock runs relative to CUPTI's, between two readings. */
static double slope(const struct clock_pair *a, const struct clock_pair *b)
{
	int64_t cupti_ns = (int64_t)(b->cupti_ns - a->cupti_ns);

	return cupti_ns > 0 ? (double)(int64_t)(b->mono_ns - a->mono_ns) / (double)cupti_ns : 1;
}

#define BASE_NS 500000000 /* readings closer than this tell little about the clock's speed */

/* Returns the slope from a reading to the next one; for the newest, that over the last BASE_NS. */
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
		return NOWHERE;
	return (int64_t)pair->mono_ns + (int64_t)ns;
}

static bool is_first(const struct clock_map *map, uint64_t mono_ns, uint64_t cupti_ns)
{
	const struct clock_pair *before = map->count ? pair_at(map, map->count - 1) : NULL;
	int64_t off;

	if (!before || map->broken || cupti_ns <= before->cupti_ns)
		return true;
	off = project(map, map->count - 1, cupti_ns) - (int64_t)mono_ns;
	/* The second reading of a section always fits, as it tells the clock's speed. */
	return !before->first && (off > SLACK_NS || off < -SLACK_NS);
}

bool clock_map_add(struct clock_map *map, uint64_t mono_ns, uint64_t cupti_ns)
{
	bool first = is_first(map, mono_ns, cupti_ns);

	map->pairs[map->count++ % CLOCK_MAP_PAIRS] = (struct clock_pair){mono_ns, cupti_ns, first};
	map->broken = false;
	map->now_ns = mono_ns;
	return first;
}

bool clock_map_fits(struct clock_map *map, uint64_t mono_ns, uint64_t cupti_ns)
{
	map->now_ns = mono_ns;
	return !is_first(map, mono_ns, cupti_ns);
}

void clock_map_break(struct clock_map *map)
{
	map->broken = true;
}

/* Converts a time. `far`: also up to REACH_NS before a section, as CUPTI may convert times late. */
static bool find(const struct clock_map *map, uint64_t cupti_ns, bool far, uint64_t *ret_mono_ns)
{
	for (uint32_t i = map->count; i-- > oldest(map);) {
		const struct clock_pair *pair = pair_at(map, i);
		int64_t begin = (int64_t)pair->mono_ns, end, at = project(map, i, cupti_ns);

		if (at == NOWHERE || at < 0)
			continue;
		if (i == oldest(map))
			begin -= pair->first ? REACH_NS : OLD_NS;
		else if (pair->first && far)
			begin -= REACH_NS;
		else if (pair->first)
			begin = (int64_t)pair_at(map, i - 1)->mono_ns;
		end = i + 1 == map->count ? (int64_t)map->now_ns + LATE_NS
					  : (int64_t)pair_at(map, i + 1)->mono_ns;
		if (at < begin || at > end)
			continue;
		*ret_mono_ns = (uint64_t)at;
		return true;
	}
	return false;
}

bool clock_map_convert(const struct clock_map *map, uint64_t cupti_ns, uint64_t *ret_mono_ns)
{
	return find(map, cupti_ns, false, ret_mono_ns) || find(map, cupti_ns, true, ret_mono_ns);
}

double clock_map_rate(const struct clock_map *map)
{
	double ns = map->count ? slope_at(map, map->count - 1) : 1;

	return ns > 0 ? 1 / ns : 1;
}
