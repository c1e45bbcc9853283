/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the parts of a thread's steps, summed over its loaders. */
#include <criterion/criterion.h>
#include <math.h>

#include "analysis/account/step_parts.h"
#include "analysis/gpu/gpu_use.h"

static const struct step_sums trains = {
	.ns = {50, 100, 10, 40, 20}, .compute_ns = 300, .save_ns = NAN};

Test(step_parts, they_sum_to_the_steps)
{
	struct step_parts parts = {0};
	double sum = 0;

	step_parts_add(&parts, &trains);
	step_parts_close(&parts, 400);
	cr_expect(parts.is_split && parts.has_optimizer);
	cr_expect_eq(parts.ns[STEP_AFTER], 180);
	for (int part = 0; part < STEP_PART_MAX; part++)
		sum += step_parts_share(&parts, part);
	cr_expect_float_eq(sum, 1, 1e-9);
}

/* A loop without a backward pass is a validation, even if it saves files. */
Test(step_parts, a_loader_that_does_not_train_is_another_loop)
{
	const struct step_sums validates = {
		.ns = {NAN, NAN, NAN, NAN, NAN}, .compute_ns = 70, .save_ns = 5};
	struct step_parts parts = {0};

	step_parts_add(&parts, &validates);
	step_parts_add(&parts, &trains);
	step_parts_close(&parts, 400);
	cr_expect_eq(parts.ns[STEP_LOOPS], 70);
	cr_expect_eq(parts.ns[STEP_SAVE], 25);
	cr_expect_eq(parts.ns[STEP_AFTER], 105);
	parts = (struct step_parts){0};
	step_parts_add(&parts, &validates);
	step_parts_close(&parts, 400);
	cr_expect_not(parts.is_split, "nothing trains");
	cr_expect(isnan(step_parts_share(&parts, STEP_LOOPS)));
}

/* Two loaders whose batches make one step: between two batches of each lies the whole step. */
Test(step_parts, a_loader_beside_the_one_that_trains_is_no_other_loop)
{
	const struct step_sums beside = {
		.ns = {NAN, NAN, NAN, NAN, NAN}, .compute_ns = 390, .save_ns = 0};
	struct step_parts parts = {0};

	step_parts_add(&parts, &beside);
	step_parts_add(&parts, &trains);
	step_parts_close(&parts, 400);
	cr_expect_eq(parts.ns[STEP_LOOPS], 0);
	cr_expect_eq(parts.whole_ns, 400);
	cr_expect_eq(parts.ns[STEP_AFTER], 180);
}

/* An optimizer that was not observed is unknown, not 0: its time counts as STEP_AFTER. */
Test(step_parts, an_optimizer_that_nobody_saw_is_unknown)
{
	const struct step_sums older = {
		.ns = {50, 100, NAN, NAN, 20}, .compute_ns = 300, .save_ns = 0};
	struct step_parts parts = {0};

	step_parts_add(&parts, &older);
	step_parts_close(&parts, 300);
	cr_expect(parts.is_split);
	cr_expect(isnan(step_parts_share(&parts, STEP_OPTIMIZER)));
	cr_expect(isnan(step_parts_share(&parts, STEP_BETWEEN)));
	cr_expect_eq(parts.ns[STEP_AFTER], 130);
}

/* The known parts may be longer than the steps in the account. */
Test(step_parts, no_part_is_negative)
{
	struct step_parts parts = {0};

	step_parts_add(&parts, &trains);
	step_parts_close(&parts, 100);
	cr_expect_eq(parts.whole_ns, 220);
	cr_expect_eq(parts.ns[STEP_AFTER], 0);
}

/* Parts of a step whose wait ended at 10 ms, and which ended at 100 ms. */
Test(gpu_parts, edges_are_where_each_part_ends)
{
	static const int64_t ms = 1000000, expected[GPU_PARTS + 1] = {10, 30, 60, 65, 80, 100};
	const struct dlprof_parts told = {.ns = {20000000, 30000000, 5000000, 15000000, 0},
					  .backward_ns = 30000000,
					  .last_ns = 80000000};
	struct dlprof_parts other = told;
	int64_t edges[GPU_PARTS + 1];

	cr_assert(gpu_parts_find(&told, 10 * ms, 100 * ms, edges));
	for (int i = 0; i <= GPU_PARTS; i++)
		cr_expect_eq(edges[i], expected[i] * ms, "edge %d", i);
	other.ns[DLPROF_PART_OPTIMIZER] = other.ns[DLPROF_PART_BETWEEN] = UINT64_MAX;
	other.last_ns = 60000000;
	cr_assert(gpu_parts_find(&other, 10 * ms, 100 * ms, edges), "no optimizer is followed");
	cr_expect_eq(edges[GPU_PARTS - 1], 60 * ms);
	/* Parts that do not add up, as with a second pass or another wait, have no edges. */
	cr_expect_not(gpu_parts_find(&told, 11 * ms, 100 * ms, edges));
	/* After a wait for another loader times may differ a little, but no part is negative. */
	other = told;
	other.ns[DLPROF_PART_BEFORE] = 0;
	cr_assert(gpu_parts_find(&other, (int64_t)told.backward_ns + 150000, 100 * ms, edges));
	for (int i = 0; i < GPU_PARTS; i++)
		cr_expect_leq(edges[i], edges[i + 1], "part %d", i);
	cr_expect_not(gpu_parts_find(&told, 10 * ms, 79 * ms, edges));
	other = told;
	other.last_ns += 1000000;
	cr_expect_not(gpu_parts_find(&other, 10 * ms, 100 * ms, edges));
	other.last_ns = UINT64_MAX;
	cr_expect_not(gpu_parts_find(&other, 10 * ms, 100 * ms, edges), "a damaged ring");
	other.backward_ns = 0;
	cr_expect_not(gpu_parts_find(&other, 10 * ms, 100 * ms, edges), "a validation");
}
