/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the confidence interval of a run's stall ratio against many runs of the model. */
#include <criterion/criterion.h>
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
