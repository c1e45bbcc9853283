/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

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
	/* Older than all that is kept. */
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
	/* It is set at 12.5. */
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
	/* 2.1 ticks a nanosecond since long ago, from 12.5 on. */
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
	/* Done before, converted after. */
	expect(ticks - 4200 * MS, 11 * S);
	expect(REAL + 1 * S + 500 * MS, 11 * S + 500 * MS);
}
