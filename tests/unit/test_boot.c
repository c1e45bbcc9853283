/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the confidence interval of a run's stall ratio against many runs of the model. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "model.h"

Test(boot, covers_the_ratio_and_is_the_same_every_time)
{
	struct model m = HEALTHY;
	struct boot boot, again;

	m.load = 400;
	m.spread = 0.9;
	m.batches = 1000;
	model_diagnose(&m);
	boot = diagnosis.boot;
	cr_assert(boot.low99 <= boot.low95 && boot.low95 < finding.stall_ratio);
	cr_assert(finding.stall_ratio < boot.high95);
	cr_assert(boot.high95 - boot.low95 < 0.2);
	cr_assert_eq(boot_stall_ratio(&series, &finding, &again), 0);
	cr_assert_eq(memcmp(&boot, &again, sizeof(boot)), 0);
	series_done(&series);
}

/*
 * 95 % intervals of 200 runs, against the ratio of a very long run: of runs of 300 batches .92 hold
 * that ratio (analysis/README.md).
 */
Test(boot, coverage)
{
	struct model m = HEALTHY;
	int covered = 0;
	double ratio;

	m.load = 400;
	m.spread = 0.9;
	m.batches = 60000;
	model_run(&m);
	stall_judge(&series, &finding);
	ratio = finding.stall_ratio;
	series_done(&series);
	m.batches = 304;
	for (int i = 0; i < 200; i++) {
		struct boot boot;

		model_run(&m);
		stall_judge(&series, &finding);
		cr_assert_eq(boot_stall_ratio(&series, &finding, &boot), 0);
		covered += boot.low95 <= ratio && ratio <= boot.high95;
		series_done(&series);
	}
	cr_assert(covered >= 170 && covered <= 199, "%d of 200", covered);
}

#define BATCHES 1000

static int workers;

/* Makes a run of steps of 900 ns; batch i waits for wait_ns(i). */
static void make(double (*wait_ns)(int i), int epochs)
{
	series_init(&series);
	series.workers = workers;
	for (int i = 0; i < BATCHES; i++) {
		struct batch_row row = BATCH_ROW_UNKNOWN;

		row.epoch = i * epochs / BATCHES;
		row.batch = i % (BATCHES / epochs);
		row.wait_ns = (int64_t)wait_ns(i);
		row.compute_ns = 900;
		cr_assert_eq(series_append(&series, &row), 0);
	}
	stall_judge(&series, &finding);
}

static double always_100(int i)
{
	return 100;
}

static double of_0_to_200(int i)
{
	return 200 * model_random_share();
}

static double error_of(double (*wait_ns)(int i))
{
	double error_ns;

	make(wait_ns, 1);
	cr_assert_eq(boot_wait_error(&series, &finding, &error_ns), 0);
	series_done(&series);
	return error_ns;
}

Test(boot, the_error_of_a_sum_is_that_of_independent_waits)
{
	double error_ns = 0;

	cr_expect_float_eq(error_of(always_100), 0, 1e-6);
	for (int i = 0; i < 20; i++)
		error_ns += error_of(of_0_to_200) / 20;
	/* A wait between 0 and 200 ns has the variance 200 * 200 / 12. */
	cr_expect_float_eq(error_ns, sqrt(BATCHES * 40000 / 12.), 0.12 * error_ns, "%g", error_ns);
	series_init(&series);
	cr_assert_eq(boot_wait_error(&series, &finding, &error_ns), 0);
	cr_expect_eq(error_ns, 0, "nothing was recorded");
}

/* Other loaders' waits are known only with an error, which makes the run's ratio less sure. */
Test(boot, the_error_of_other_loaders_counts)
{
	const double all_ns = BATCHES * 1000;
	struct boot boot;

	make(always_100, 1);
	cr_assert_eq(boot_stall_ratio(&series, &finding, &boot), 0);
	cr_expect(boot.error < 1e-5, "%g", boot.error);
	finding.others_error_ns = 0.01 * all_ns;
	cr_assert_eq(boot_stall_ratio(&series, &finding, &boot), 0);
	cr_expect_float_eq(boot.error, 0.01 * 0.9, 0.0015, "%g", boot.error);
	cr_expect_float_eq(boot.low99, 0.1 - 2.33 * 0.009, 0.006, "%g", boot.low99);
	finding.gap = STALL_GAP_LOSS;
	cr_assert_eq(boot_stall_ratio(&series, &finding, &boot), 0);
	cr_expect(isnan(boot.low99) && isnan(boot.error), "there is no verdict");
	series_done(&series);
}

static int slow_starts;

static double first_of_an_epoch(int i)
{
	return i % 100 ? 10 : (slow_starts ? 20000 * model_random_share() : 10000);
}

/* Epochs that start slowly, some more and some less, make a ratio less sure than even ones. */
Test(boot, starts_of_epochs_vary_too)
{
	double even, varied;
	struct boot boot;

	workers = 1;
	make(first_of_an_epoch, 10);
	cr_assert_eq(boot_stall_ratio(&series, &finding, &boot), 0);
	even = boot.error;
	series_done(&series);
	slow_starts = 1;
	make(first_of_an_epoch, 10);
	cr_assert_eq(boot_stall_ratio(&series, &finding, &boot), 0);
	varied = boot.error;
	series_done(&series);
	/* Nine of ten starts count; 20,000 / sqrt(12) ns each, of 1,000,000 ns */
	cr_expect(even < varied / 3, "%g, %g", even, varied);
	cr_expect(varied > 0.008 && varied < 0.03, "%g", varied);
}
