/* SPDX-License-Identifier: Apache-2.0 */
/* What passes untimed gets the time that it took: decoders and callers of many manners, simulated.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "hooks/rows.h"

#define IMAGES 300
#define ROWS   437

/* Nanoseconds; what a decoder and its caller do. */
struct manner {
	const char *name;
	uint32_t period, first; /* a long row each `period`, the first two `first` apart */
	uint64_t long_ns, short_ns, other_ns; /* each other short row takes other_ns */
	uint64_t blank_ns;                    /* every third long row */
	uint64_t gap_ns;                      /* the caller's, after every row */
	uint32_t works_each;                  /* and so many rows; 0: never */
	uint64_t works_ns;
	uint32_t robbed_one_in; /* 1/x of the time somebody else has the processor, ... */
	uint64_t robbed_ns;     /* so long */
	uint32_t gives_up_each; /* images that end half way */
	uint32_t suspends_each; /* rows that have to be called for twice */
	double error, timed;    /* at most: of the decoder's time; and of the calls, timed */
};

static const struct manner manners[] = {
	{.name = "tight loop, 4:2:0",
	 .period = 16,
	 .first = 14,
	 .long_ns = 40000,
	 .short_ns = 450,
	 .other_ns = 250,
	 .gap_ns = 15,
	 .error = 0.005,
	 .timed = 0.32},
	{.name = "Pillow's loop",
	 .period = 16,
	 .first = 14,
	 .long_ns = 40000,
	 .short_ns = 450,
	 .other_ns = 250,
	 .gap_ns = 180,
	 .error = 0.005,
	 .timed = 0.32},
	{.name = "4:4:4",
	 .period = 8,
	 .first = 8,
	 .long_ns = 20000,
	 .short_ns = 300,
	 .other_ns = 300,
	 .gap_ns = 150,
	 .error = 0.005,
	 .timed = 0.45},
	{.name = "a fast decoder",
	 .period = 16,
	 .first = 16,
	 .long_ns = 6000,
	 .short_ns = 450,
	 .other_ns = 250,
	 .gap_ns = 150,
	 .error = 0.01,
	 .timed = 0.32},
	{.name = "rows all alike",
	 .period = 1,
	 .first = 1,
	 .long_ns = 3000,
	 .short_ns = 3000,
	 .gap_ns = 150,
	 .error = 1e-9,
	 .timed = 1},
	{.name = "high periods",
	 .period = 32,
	 .first = 32,
	 .long_ns = 40000,
	 .short_ns = 300,
	 .other_ns = 300,
	 .gap_ns = 150,
	 .error = 1e-9,
	 .timed = 1},
	{.name = "blank parts",
	 .period = 8,
	 .first = 8,
	 .long_ns = 20000,
	 .blank_ns = 1900,
	 .short_ns = 300,
	 .other_ns = 300,
	 .gap_ns = 20,
	 .error = 0.025,
	 .timed = 1},
	{.name = "works after every row",
	 .period = 16,
	 .first = 14,
	 .long_ns = 40000,
	 .short_ns = 450,
	 .other_ns = 250,
	 .gap_ns = 5000,
	 .error = 1e-9,
	 .timed = 1},
	{.name = "works in strips of a period",
	 .period = 16,
	 .first = 14,
	 .long_ns = 40000,
	 .short_ns = 450,
	 .other_ns = 250,
	 .gap_ns = 20,
	 .works_each = 16,
	 .works_ns = 80000,
	 .error = 0.005,
	 .timed = 1},
	{.name = "works a little in strips",
	 .period = 16,
	 .first = 14,
	 .long_ns = 6000,
	 .short_ns = 450,
	 .other_ns = 250,
	 .gap_ns = 20,
	 .works_each = 16,
	 .works_ns = 7000,
	 .error = 0.005,
	 .timed = 1},
	{.name = "works in strips of three periods",
	 .period = 16,
	 .first = 14,
	 .long_ns = 40000,
	 .short_ns = 450,
	 .other_ns = 250,
	 .gap_ns = 20,
	 .works_each = 48,
	 .works_ns = 80000,
	 .error = 0.02,
	 .timed = 1},
	{.name = "reads a file once an image",
	 .period = 16,
	 .first = 14,
	 .long_ns = 40000,
	 .short_ns = 450,
	 .other_ns = 250,
	 .gap_ns = 20,
	 .works_each = ROWS / 2,
	 .works_ns = 3000000,
	 .error = 0.02,
	 .timed = 0.5},
	{.name = "half a processor",
	 .period = 16,
	 .first = 14,
	 .long_ns = 40000,
	 .short_ns = 450,
	 .other_ns = 250,
	 .gap_ns = 150,
	 .robbed_one_in = 2,
	 .robbed_ns = 3000000,
	 .error = 0.03,
	 .timed = 0.5},
	{.name = "errors",
	 .period = 16,
	 .first = 14,
	 .long_ns = 40000,
	 .short_ns = 450,
	 .other_ns = 250,
	 .gap_ns = 150,
	 .gives_up_each = 2,
	 .error = 0.01,
	 .timed = 0.4},
	{.name = "suspended",
	 .period = 16,
	 .first = 14,
	 .long_ns = 40000,
	 .short_ns = 450,
	 .other_ns = 250,
	 .gap_ns = 150,
	 .suspends_each = 100,
	 .error = 0.01,
	 .timed = 0.6},
};

struct world {
	const struct manner *manner;
	struct thread_rows rows;
	uint64_t now, random;
	uint64_t truth, told, calls, timed;
};

static double chance(struct world *world)
{
	world->random = world->random * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (double)(world->random >> 11) / 9007199254740992.0;
}

/* Of somebody's `ns`; what else ran meanwhile takes its share in long pieces. */
static uint64_t pass_time(struct world *world, uint64_t ns)
{
	const struct manner *manner = world->manner;
	uint64_t all = ns;

	if (manner->robbed_one_in &&
	    chance(world) * (double)manner->robbed_ns * (manner->robbed_one_in - 1) < (double)ns)
		all += manner->robbed_ns;
	world->now += all;
	return all;
}

static uint64_t row_ns(const struct manner *manner, uint32_t row)
{
	uint32_t at = row < manner->first ? row : (row - manner->first) % manner->period;
	uint32_t which = row < manner->first ? 0 : (row - manner->first) / manner->period;

	if (at == 0)
		return manner->blank_ns && which % 3 == 1 ? manner->blank_ns : manner->long_ns;
	return at % 2 ? manner->short_ns : manner->other_ns;
}

static void call_for(struct world *world, uint64_t ns)
{
	uint64_t begin, passed;

	world->calls++;
	if (rows_pass(&world->rows)) {
		world->truth += pass_time(world, ns);
		return;
	}
	begin = world->now;
	passed = rows_begin(&world->rows, begin);
	world->timed++;
	ns = pass_time(world, ns);
	world->truth += ns;
	world->told += passed + ns;
	rows_end(&world->rows, world->now, ns);
}

static void decode(struct world *world, uint32_t image)
{
	const struct manner *manner = world->manner;
	uint32_t count =
		manner->gives_up_each && image % manner->gives_up_each == 0 ? ROWS / 2 - 7 : ROWS;

	for (uint32_t row = 0; row < count; row++) {
		if (manner->suspends_each && row % manner->suspends_each == 7) {
			call_for(world, 50);
			world->told += rows_leave(&world->rows);
			world->now += 500000;
		}
		call_for(world, row_ns(manner, row));
		pass_time(world, manner->gap_ns);
		if (manner->works_each && row % manner->works_each == manner->works_each - 1)
			pass_time(world, manner->works_ns);
	}
	world->told += rows_leave(&world->rows);
	pass_time(world, 500000);
}

Test(rows, manners)
{
	for (size_t i = 0; i < sizeof(manners) / sizeof(manners[0]); i++) {
		struct world world = {.manner = &manners[i], .random = 1};
		double error, timed;

		for (uint32_t image = 0; image < IMAGES; image++)
			decode(&world, image);
		error = (double)world.told / (double)world.truth - 1;
		timed = (double)world.timed / (double)world.calls;
		fprintf(stderr, "%s: error %+.4f, timed %.3f\n", manners[i].name, error, timed);
		cr_expect(fabs(error) <= manners[i].error, "%s: off by %+.2f %%", manners[i].name,
			  100 * error);
		cr_expect(timed <= manners[i].timed, "%s: %.0f %% are timed", manners[i].name,
			  100 * timed);
	}
}
