/* SPDX-License-Identifier: Apache-2.0 */
/* Tests whether loads that wait for something shared are told from loads that do not. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/predict/flight.h"

#define MS      1000000
#define EPOCHS  8
#define BATCHES 42 /* no multiple of WORKERS, so that the last round is not whole */
#define WORKERS 4

static struct flight_load loads[EPOCHS * BATCHES];
static unsigned seed = 1;
static double spread = 0.4;
static int samples = 10; /* samples of a batch; 0: not known */

static double noise(void)
{
	return 1 - spread / 2 + spread * (double)rand_r(&seed) / RAND_MAX;
}

/*
 * Simulates loads in steps of 1 ms. is_shared: loads under way share one ms of work a step; else
 * each gets one. work: ms of work of a load. last_part: the last load's share of `work`.
 */
static size_t simulate(bool is_shared, double work, double last_part)
{
	size_t count = 0;
	int64_t now = 0;

	for (int epoch = 0; epoch < EPOCHS; epoch++) {
		double left[WORKERS] = {0};
		size_t of[WORKERS] = {0}, begin = count;
		int given = 0, under_way = 0;

		do {
			under_way = 0;
			for (int w = 0; w < WORKERS; w++) {
				if (left[w] <= 0 && given < BATCHES) {
					bool is_last = given + 1 == BATCHES;

					given++;
					of[w] = count;
					left[w] = work * noise() * (is_last ? last_part : 1);
					loads[count++] = (struct flight_load){
						.epoch = epoch,
						.begin_ns = now,
						.samples = !samples  ? -1
							   : is_last ? (int)(samples * last_part)
								     : samples};
				}
				under_way += left[w] > 0;
			}
			now += MS;
			for (int w = 0; w < WORKERS; w++) {
				if (left[w] <= 0)
					continue;
				left[w] -= is_shared ? 1.0 / under_way : 1;
				loads[of[w]].load_ns = now - loads[of[w]].begin_ns;
				loads[of[w]].cpu_ns = loads[of[w]].load_ns / 20;
			}
		} while (under_way);
		cr_assert_eq(count - begin, BATCHES);
		now += 50 * MS;
	}
	return count;
}

Test(flight, a_server_that_gives_so_much_to_all_is_a_limit)
{
	struct flight flight;
	size_t count = simulate(true, 25, 1);

	cr_assert_eq(flight_find(loads, count, WORKERS, &flight), 0);
	cr_expect_gt(flight.growth, 0.6, "%g", flight.growth);
	cr_expect_gt(flight.z, 4, "%g", flight.z);
	/* One load of 25 ms at a time: 40 a second. */
	cr_expect_float_eq(flight.limit_per_s, 40, 2, "%g", flight.limit_per_s);
}

Test(flight, loads_that_wait_for_themselves_are_none)
{
	struct flight flight;
	size_t count = simulate(false, 100, 1);

	cr_assert_eq(flight_find(loads, count, WORKERS, &flight), 0);
	cr_expect_lt(fabs(flight.growth), 0.3, "%g", flight.growth);
	cr_expect(isnan(flight.limit_per_s));
	/* A last batch of few samples in each epoch shows no shared limit. */
	count = simulate(false, 100, 0.2);
	cr_assert_eq(flight_find(loads, count, WORKERS, &flight), 0);
	cr_expect(isnan(flight.limit_per_s), "%g: %g", flight.growth, flight.z);
	samples = 0;
	count = simulate(false, 100, 0.2);
	cr_assert_eq(flight_find(loads, count, WORKERS, &flight), 0);
	cr_expect(isnan(flight.limit_per_s), "%g: %g", flight.growth, flight.z);
	/* Loads that mostly use the CPU show none either. */
	count = simulate(true, 25, 1);
	for (size_t i = 0; i < count; i++)
		loads[i].cpu_ns = loads[i].load_ns * 9 / 10;
	cr_assert_eq(flight_find(loads, count, WORKERS, &flight), 0);
	cr_expect(isnan(flight.limit_per_s));
}

/* A load's CPU time may grow with the loads under way for other reasons, and does not count. */
Test(flight, only_what_is_outside_of_the_cpu_counts)
{
	struct flight plain, busy;
	size_t count = simulate(true, 25, 1);

	cr_assert_eq(flight_find(loads, count, WORKERS, &plain), 0);
	for (size_t i = 0; i < count; i++)
		if (loads[i].load_ns > 60 * (int64_t)MS)
			loads[i].cpu_ns = loads[i].load_ns * 4 / 10;
	cr_assert_eq(flight_find(loads, count, WORKERS, &busy), 0);
	cr_expect_lt(busy.growth, plain.growth - 0.1, "%g %g", busy.growth, plain.growth);
	/* A load that only computes counts neither for a limit nor against it. */
	count = simulate(true, 25, 1);
	cr_assert_eq(flight_find(loads, count, WORKERS, &plain), 0);
	loads[count - 2].cpu_ns = loads[count - 2].load_ns;
	cr_assert_eq(flight_find(loads, count, WORKERS, &busy), 0);
	cr_expect_float_eq(busy.growth, plain.growth, 0.05, "%g %g", busy.growth, plain.growth);
	cr_expect_eq(busy.load_count, plain.load_count - 1);
}

/* Nothing is concluded from a part of an epoch, or from one epoch. */
Test(flight, says_nothing_of_little)
{
	struct flight flight;
	size_t count = simulate(true, 25, 1);

	cr_assert_eq(flight_find(loads, count / EPOCHS, WORKERS, &flight), 0);
	cr_expect(isnan(flight.limit_per_s));
	cr_assert_eq(flight_find(loads, 0, WORKERS, &flight), 0);
	cr_assert_eq(flight_find(loads, 3, WORKERS, &flight), 0);
	cr_assert_eq(flight_find(loads, count, 0, &flight), 0);
	cr_expect(isnan(flight.limit_per_s));
}

/* How sure a limit is depends on how much loads vary beside what those under way explain. */
Test(flight, loads_that_vary_for_themselves_make_a_limit_less_sure)
{
	static const double spreads[] = {0.05, 0.4, 1.6}, least[] = {80, 8, 0.5};
	struct flight flight;

	for (int i = 0; i < 3; i++) {
		size_t count;

		spread = spreads[i];
		count = simulate(true, 25, 1);
		cr_assert_eq(flight_find(loads, count, WORKERS, &flight), 0);
		cr_expect(flight.z > least[i] && flight.z < 4 * least[i], "%g: %g", spread,
			  flight.z);
		/* Three rounds at each end of an epoch. */
		cr_expect_eq(flight.load_count, EPOCHS * 3 * WORKERS);
		cr_expect_eq(flight.many, WORKERS);
		cr_expect(flight.few > 1 && flight.few < 2.5, "%g", flight.few);
	}
	cr_expect(isnan(flight.limit_per_s), "it is not sure");
}
