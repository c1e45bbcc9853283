/* SPDX-License-Identifier: Apache-2.0 */
/* A load's time without known parts is split into running and waiting, and no time gets lost. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/account/load.h"

static const struct load_times plain = {
	.load_ns = 100, .cpu_ns = 40, .open_ns = 5, .read_ns = 15, .decode_ns = 20,
	.collate_ns = 10, .other_ns = 50, .blocked_ns = 30,
};

static double draw(unsigned int *seed, double most)
{
	return most * rand_r(seed) / RAND_MAX;
}

Test(load, a_known_split)
{
	struct load_split split = load_split(&plain);

	/* 60 are not on a CPU: 20 in reads and opens, 30 in known waits. The other 10 are shared by
	 * decode, 20, collate, 10, and the 20 of `other` that did not wait: 4 of 10 for `other`. */
	cr_expect_float_eq(split.blocked_ns, 34, 1e-9, "%g", split.blocked_ns);
	cr_expect_float_eq(split.cpu_ns, 16, 1e-9, "%g", split.cpu_ns);
}

Test(load, nothing_gets_lost)
{
	unsigned int seed = 20261121;

	for (int i = 0; i < 100000; i++) {
		struct load_times times = {
			.open_ns = draw(&seed, 100), .read_ns = draw(&seed, 1000),
			.decode_ns = draw(&seed, 1000), .collate_ns = draw(&seed, 100),
			.other_ns = draw(&seed, 1000),
		};
		struct load_split split;

		times.load_ns = times.open_ns + times.read_ns + times.decode_ns + times.collate_ns +
				times.other_ns;
		/* Clocks differ a little: CPU time may exceed the load, and waits the rest. */
		times.cpu_ns = draw(&seed, 1.1 * times.load_ns);
		times.blocked_ns = draw(&seed, 1.5 * times.other_ns);
		if (i % 3 == 0)
			times.decode_ns = NAN;
		if (i % 5 == 0)
			times.open_ns = times.read_ns = NAN;
		split = load_split(&times);
		cr_assert_float_eq(split.cpu_ns + split.blocked_ns, times.other_ns, 1e-6);
		cr_assert_geq(split.cpu_ns, -1e-6);
		cr_assert_geq(split.blocked_ns, fmin(times.blocked_ns, times.other_ns) - 1e-6);
		cr_assert_leq(split.blocked_ns, times.other_ns + 1e-6);
	}
}

Test(load, what_was_not_observed_is_not_known)
{
	for (int i = 0; i < 3; i++) {
		struct load_times times = plain;

		*(i == 0 ? &times.load_ns : i == 1 ? &times.cpu_ns : &times.other_ns) = NAN;
		cr_expect(isnan(load_split(&times).cpu_ns), "%d", i);
		cr_expect(isnan(load_split(&times).blocked_ns), "%d", i);
	}
}

Test(load, a_part_that_was_not_observed_is_no_part)
{
	struct load_times times = plain;
	struct load_split without;

	times.open_ns = times.read_ns = times.decode_ns = times.collate_ns = times.blocked_ns = NAN;
	times.other_ns = 100;
	without = load_split(&times);
	cr_expect_float_eq(without.cpu_ns, 40, 1e-9);
	cr_expect_float_eq(without.blocked_ns, 60, 1e-9);
}

Test(load, all_running_and_none)
{
	struct load_times times = {.load_ns = 100, .cpu_ns = 100, .other_ns = 100};

	cr_expect_eq(load_split(&times).cpu_ns, 100);
	cr_expect_eq(load_split(&times).blocked_ns, 0);
	times.cpu_ns = 0;
	cr_expect_eq(load_split(&times).cpu_ns, 0);
	cr_expect_eq(load_split(&times).blocked_ns, 100);
	times.blocked_ns = 100;
	cr_expect_eq(load_split(&times).blocked_ns, 100);
	times = (struct load_times){0};
	cr_expect_eq(load_split(&times).cpu_ns, 0, "an empty load");
	cr_expect_eq(load_split(&times).blocked_ns, 0);
}

Test(load, waiting_in_reads_is_not_charged_to_other)
{
	/* A load that reads from a slow disk, and computes a little. */
	struct load_times times = {
		.load_ns = 1000, .cpu_ns = 20, .read_ns = 980, .other_ns = 20,
	};

	cr_expect_float_eq(load_split(&times).cpu_ns, 20, 1e-9);
	cr_expect_float_eq(load_split(&times).blocked_ns, 0, 1e-9);
}

Test(load, parts_are_shares_of_the_whole)
{
	struct load_times times = plain;

	cr_expect_float_eq(load_decode_share(&times), 0.2, 1e-9);
	cr_expect_float_eq(load_read_share(&times), 0.2, 1e-9);
	times.open_ns = NAN;
	cr_expect_float_eq(load_read_share(&times), 0.15, 1e-9);
	times.read_ns = NAN;
	cr_expect_eq(load_read_share(&times), 0);
	times.read_ns = times.decode_ns = 300;
	cr_expect_eq(load_read_share(&times), 1, "clocks differ");
	cr_expect_eq(load_decode_share(&times), 1);
	times.load_ns = 0;
	cr_expect_eq(load_decode_share(&times), 0, "nothing was loaded");
}

Test(load, reads_are_small_or_few_or_none)
{
	struct load_times times = {.samples = 100, .read_count = 800,
				   .read_bytes = 800 * LOAD_SMALL_BYTES};

	cr_expect(load_reads_small(&times));
	times.read_bytes++;
	cr_expect_not(load_reads_small(&times), "they are larger");
	times = (struct load_times){.samples = 100, .read_count = 799, .read_bytes = 799};
	cr_expect_not(load_reads_small(&times), "they are few");
	times = (struct load_times){.open_ns = 20, .read_ns = 19};
	cr_expect(load_opens_most(&times));
	times.read_ns = 20;
	cr_expect_not(load_opens_most(&times));
	times.read_ns = NAN;
	cr_expect(load_opens_most(&times));
	/* Loads that touch no file. */
	for (int i = 0; i < 5; i++) {
		times = (struct load_times){.read_count = i == 1, .open_ns = i == 2,
					    .storage_bytes = i == 3};
		if (i == 4)
			times.read_count = NAN;
		cr_expect_eq(load_reads_nothing(&times), i == 0, "%d", i);
	}
}
