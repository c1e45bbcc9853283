/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "cuda/clock_map.h"

#define S  UINT64_C(1000000000)
#define MS UINT64_C(1000000)

#define REAL (1700000000 * S)

static struct clock_map map;

static void expect(uint64_t cupti_ns, uint64_t mono_ns)
{
	uint64_t found = 0;

	cr_expect(clock_map_convert(&map, cupti_ns, &found), "%lu is nowhere", (long)cupti_ns);
	cr_expect(found + 100 > mono_ns && found < mono_ns + 100, "%ld ns off",
		  (long)(found - mono_ns));
}

Test(clock_map, nothing_is_known_without_a_look)
{
	uint64_t found;

	cr_expect_not(clock_map_convert(&map, REAL, &found));
}

Test(clock_map, an_even_clock)
{
	cr_expect(clock_map_add(&map, 10 * S, REAL));
	for (uint64_t i = 1; i < 1000; i++)
		cr_expect_not(clock_map_add(&map, (10 + i) * S, REAL + i * S));
	expect(REAL + 998 * S + 123, 1008 * S + 123);
	expect(REAL + 800 * S + 500 * MS, 810 * S + 500 * MS);
	/* This time is older than all pairs that are kept. */
	expect(REAL + 500 * S, 510 * S);
	cr_expect(clock_map_rate(&map) > 0.9999 && clock_map_rate(&map) < 1.0001);
}

Test(clock_map, no_record_is_from_the_future)
{
	uint64_t found;

	clock_map_add(&map, 10 * S, REAL);
	clock_map_add(&map, 11 * S, REAL + S);
	cr_expect_not(clock_map_convert(&map, REAL + 3 * S, &found));
	cr_expect(clock_map_fits(&map, 14 * S, REAL + 4 * S));
	expect(REAL + 3 * S, 13 * S);
}

Test(clock_map, a_clock_that_drifts_is_followed)
{
	for (uint64_t i = 0; i < 10; i++)
		clock_map_add(&map, (10 + i) * S, REAL + i * S + i * 50000);
	expect(REAL + 4 * S + 4 * 50000, 14 * S);
	expect(REAL + 4 * S + 500 * MS + 225000, 14 * S + 500 * MS);
}

static void jump(int64_t seconds)
{
	uint64_t after = REAL + (uint64_t)seconds * S;

	clock_map_add(&map, 10 * S, REAL);
	clock_map_add(&map, 11 * S, REAL + 1 * S);
	clock_map_add(&map, 12 * S, REAL + 2 * S);
	/* The clock is set at 12.5 s. */
	cr_expect_not(clock_map_fits(&map, 13 * S, after + 3 * S));
	cr_expect(clock_map_add(&map, 13 * S, after + 3 * S));
	cr_expect_not(clock_map_add(&map, 13 * S + 20 * MS, after + 3 * S + 20 * MS));
	expect(REAL + 1 * S + 500 * MS, 11 * S + 500 * MS);
	expect(REAL + 2 * S + 400 * MS, 12 * S + 400 * MS);
	expect(after + 2 * S + 600 * MS, 12 * S + 600 * MS);
	expect(after + 3 * S + 10 * MS, 13 * S + 10 * MS);
}

Test(clock_map, set_forward)
{
	jump(3600);
}

Test(clock_map, set_forward_a_little)
{
	jump(2);
}

Test(clock_map, set_back)
{
	jump(-3600);
}

Test(clock_map, ticks_of_somebody_else)
{
	/* From 12.5 s on CUPTI gives another client's ticks, 2.1 a nanosecond. */
	const uint64_t ticks = 5000 * S;

	clock_map_add(&map, 11 * S, REAL + 1 * S);
	clock_map_add(&map, 12 * S, REAL + 2 * S);
	clock_map_break(&map);
	cr_expect(clock_map_add(&map, 13 * S, ticks));
	cr_expect_not(clock_map_add(&map, 13 * S + 20 * MS, ticks + 42 * MS));
	cr_expect_not(clock_map_add(&map, 14 * S, ticks + 2100 * MS));
	cr_expect(clock_map_rate(&map) > 2.09 && clock_map_rate(&map) < 2.11);
	expect(ticks + 1050 * MS, 13 * S + 500 * MS);
	expect(ticks - 630 * MS, 12 * S + 700 * MS);
	/* Times before the change are converted after it. */
	expect(ticks - 4200 * MS, 11 * S);
	expect(REAL + 1 * S + 500 * MS, 11 * S + 500 * MS);
}

/* A clock that drifts as NTP lets it, and is set forward and back now and then. */
struct wild {
	uint64_t mono_ns[600], cupti_ns[600]; /* both clocks at each part's begin */
	double rate[600];
	bool set[600]; /* the part begins with a setting */
	int count;
};

static struct wild wild;

static int64_t milliseconds(int most)
{
	return (int64_t)(2 + rand() % most) * (int64_t)MS;
}

static void make_wild(bool back)
{
	uint64_t mono_ns = 1000 * S, cupti_ns = REAL;

	for (wild.count = 0; wild.count < 600; wild.count++) {
		int i = wild.count;
		uint64_t length_ns = 100 * MS + (uint64_t)rand() % S;

		wild.set[i] = i && rand() % 20 == 0;
		if (wild.set[i])
			cupti_ns += (uint64_t)((back && rand() % 2 ? -1 : 1) *
					       milliseconds(rand() % 2 ? 50 : 3600000));
		wild.mono_ns[i] = mono_ns;
		wild.cupti_ns[i] = cupti_ns;
		wild.rate[i] = 1 + (rand() % 200 - 100) * 1e-6;
		mono_ns += length_ns;
		cupti_ns += (uint64_t)((double)length_ns * wild.rate[i]);
	}
}

static int part_of(uint64_t mono_ns)
{
	int i = wild.count - 1;

	while (i && wild.mono_ns[i] > mono_ns)
		i--;
	return i;
}

static uint64_t wild_ns(uint64_t mono_ns)
{
	int i = part_of(mono_ns);

	return wild.cupti_ns[i] + (uint64_t)((double)(mono_ns - wild.mono_ns[i]) * wild.rate[i]);
}

/* Returns whether the clock was set within [from_ns, to_ns]. */
static bool is_set(uint64_t from_ns, uint64_t to_ns)
{
	for (int i = part_of(from_ns) + 1; i < wild.count && wild.mono_ns[i] <= to_ns; i++)
		if (wild.set[i])
			return true;
	return false;
}

static void look(uint64_t mono_ns)
{
	if (clock_map_add(&map, mono_ns, wild_ns(mono_ns)))
		clock_map_add(&map, mono_ns + 20 * MS, wild_ns(mono_ns + 20 * MS));
}

/*
 * Looks at the clock once a second and before each reading, as cupti_clock.c does. oldest_ns: age
 * of the oldest record. Returns how many times of *ret_count could be converted.
 */
static int read_wild(uint64_t oldest_ns, int *ret_count)
{
	uint64_t end_ns = wild.mono_ns[wild.count - 1], next_ns = 1000 * S;
	uint64_t looked_ns = 0;
	int found = 0;

	*ret_count = 0;
	for (uint64_t now_ns = 1000 * S; now_ns < end_ns;
	     now_ns += 21 * MS + (uint64_t)rand() % (300 * MS)) {
		uint64_t at_ns = now_ns - (uint64_t)rand() % oldest_ns, ns;
		double limit_ns;

		if (now_ns >= next_ns || !clock_map_fits(&map, now_ns, wild_ns(now_ns))) {
			look(now_ns);
			now_ns += 20 * MS;
			next_ns = now_ns + S;
			looked_ns = now_ns;
			clock_map_fits(&map, now_ns, wild_ns(now_ns));
		}
		/* Between two looks it is not known when the clock was set. */
		if (at_ns < 1002 * S || is_set(at_ns - 1300 * MS, at_ns + 1300 * MS) ||
		    is_set(at_ns, now_ns))
			continue;
		/* Since the last look a time may be wrong by a quarter of the rates' difference. */
		limit_ns = at_ns < looked_ns - 20 * MS ? 70e3 : 260e3;
		++*ret_count;
		if (!clock_map_convert(&map, wild_ns(at_ns), &ns))
			continue;
		found++;
		cr_expect(fabs((double)(int64_t)(ns - at_ns)) < limit_ns, "%ld ns off, %ld before",
			  (long)(ns - at_ns), (long)(now_ns - at_ns));
	}
	return found;
}

Test(clock_map, a_wild_clock_is_followed)
{
	for (unsigned int seed = 0; seed < 30; seed++) {
		int count, found;

		srand(seed);
		map.count = 0;
		make_wild(seed % 2);
		found = read_wild(3 * S, &count);
		cr_expect_gt(count, 300, "seed %u: %d", seed, count);
		cr_expect_eq(found, count, "seed %u: %d of %d", seed, found, count);
	}
}

/* Whatever the clocks say, no converted time lies in the future, and no conversion crashes. */
Test(clock_map, nonsense_is_nowhere)
{
	uint64_t ns, latest_ns = 0;

	srand(9);
	for (int i = 0; i < 100000; i++) {
		uint64_t mono_ns = latest_ns + (uint64_t)rand() % S;
		uint64_t cupti_ns = (uint64_t)rand() << (rand() % 34);

		if (rand() % 3 == 0)
			clock_map_break(&map);
		if (rand() % 2)
			clock_map_add(&map, mono_ns, cupti_ns);
		else
			clock_map_fits(&map, mono_ns, cupti_ns);
		latest_ns = mono_ns;
		if (clock_map_convert(&map, cupti_ns + (uint64_t)rand() - RAND_MAX / 2, &ns))
			cr_assert_leq(ns, latest_ns + 2 * MS);
		cr_assert(clock_map_rate(&map) > 0);
	}
}
