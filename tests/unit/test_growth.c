/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that loads and steps are found to grow only if they become longer all the time. */
#include <criterion/criterion.h>

#include "analysis/cause/growth.h"
#include "grounds_model.h"
#include "model.h"

static double growing(int batch)
{
	return 80 + batch * 0.2;
}

static double hardly_growing(int batch)
{
	return 80 + batch * 0.05;
}

static double longer_from_the_middle(int batch)
{
	return batch < LOADS / 2 ? 80 : 160;
}

Test(growth, loads_that_become_longer_all_the_time)
{
	make(growing, NULL);
	cr_expect_eq(judge(NULL), CAUSE_GROWING_LOADS);
	cr_expect_float_eq(diagnosis.grounds.growth.first_ns, 90 * MS, MS);
	make(hardly_growing, NULL);
	cr_expect_eq(judge(NULL), CAUSE_LOADER_CAPACITY);
	make(longer_from_the_middle, NULL);
	cr_expect_eq(judge(NULL), CAUSE_LOADER_CAPACITY, "one step is no growth");
}

/* Length of a load, ms, that grows over each of two epochs, as if samples were sorted by size. */
static double sorted(int batch)
{
	return 80 + batch % (LOADS / 2) * 0.4;
}

Test(growth, loads_that_become_longer_in_each_epoch)
{
	epochs = 2;
	make(sorted, NULL);
	cr_expect_eq(judge(NULL), CAUSE_GROWING_IN_EPOCH);
	cr_expect_float_eq(diagnosis.grounds.growth.last_ns, 150 * MS, MS);
	cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_MIX_SAMPLES);
	make(growing, NULL);
	cr_expect_eq(judge(NULL), CAUSE_GROWING_LOADS, "over both of them");
	epochs = 1;
	make(growing, NULL);
	cr_expect_eq(judge(NULL), CAUSE_GROWING_LOADS, "one epoch does not begin anew");
}

/* Steps that grow are told, though the loads, which do not grow, remain the cause. */
Test(growth, of_steps)
{
	make(NULL, NULL);
	for (int i = 0; i < LOADS; i++)
		series.compute_ns[i] = (float)((20 + i * 0.1) * MS);
	judge(NULL);
	cr_expect_not(diagnosis.grounds.growth.found, "loads do not grow");
	cr_expect(diagnosis.grounds.step_growth.found);
	cr_expect_float_eq(diagnosis.grounds.step_growth.first_ns, 25 * MS, MS);
	cr_expect_float_eq(diagnosis.grounds.step_growth.last_ns, 55 * MS, MS);
	make(growing, NULL);
	judge(NULL);
	cr_expect_not(diagnosis.grounds.step_growth.found, "only loads grow");
}

/* A single rise of the steps is told, too, unless they become shorter again. */
Test(growth, of_steps_at_once)
{
	make(NULL, NULL);
	for (int i = LOADS * 5 / 8; i < LOADS; i++)
		series.compute_ns[i] = (float)(80 * MS);
	judge(NULL);
	cr_expect_not(diagnosis.grounds.step_growth.found);
	cr_expect(diagnosis.grounds.step_growth.is_lasting);
	make(NULL, NULL);
	for (int i = 0; i < LOADS; i++)
		series.compute_ns[i] = (float)((i >= LOADS * 3 / 4 || i / 50 == 3 ? 80 : 20) * MS);
	judge(NULL);
	cr_expect_not(diagnosis.grounds.step_growth.is_lasting, "they fell on the way");
}

/* Batches whose time is unknown are left out, and a few batches are too few. */
Test(growth, needs_known_times)
{
	make(NULL, NULL);
	stall_judge(&series, &finding);
	for (int i = 0; i < LOADS; i++)
		series.compute_ns[i] = i % 2 ? -1 : (float)((20 + i * 0.1) * MS);
	cr_expect(growth_find(&series, series.compute_ns, 1).found);
	for (int i = 0; i < LOADS; i++)
		series.compute_ns[i] = i % 4 ? -1 : (float)((20 + i * 0.1) * MS);
	cr_expect_not(growth_find(&series, series.compute_ns, 1).found, "12 a part are too few");
	cr_expect_not(growth_find(&series, NULL, 1).found);
	series_done(&series);
}
