/* SPDX-License-Identifier: Apache-2.0 */
/* Tests whether batches that are drawn and thrown away are told from those that are trained on. */
#include <criterion/criterion.h>

#include "analysis/cause/cause.h"
#include "analysis/cause/skipped.h"
#include "grounds_model.h"
#include "model.h"

/* A whole epoch of short steps is a pass over the data, and throws no batches away. */
Test(skipped, an_epoch_of_short_steps_is_not_thrown_away)
{
	epochs = 2;
	make(NULL, NULL);
	for (int i = 0; i < LOADS; i++) {
		series.compute_ns[i] = (float)(i < LOADS / 2 ? 0.1 * MS : 30 * MS);
		series.wait_ns[i] = (float)(i < LOADS / 2 ? 25 * MS : 5 * MS);
	}
	judge(NULL);
	cr_expect_eq(diagnosis.skipped.count, 0);
}

/* The first 240 of 400 batches are drawn and thrown away, as by a training that is resumed. */
Test(skipped, batches_that_are_thrown_away)
{
	for (int trains = 0; trains < 2; trains++) {
		make(NULL, NULL);
		for (int i = 0; i < LOADS; i++) {
			const bool is_skipped = i < 240 && !trains;

			/* Two of the skipped steps are long: another program had the core. */
			series.compute_ns[i] =
				(float)(is_skipped && i % 90 != 89 ? 0.1 * MS : 30 * MS);
			series.wait_ns[i] = (float)(i < 240 ? 25 * MS : 5 * MS);
		}
		cr_expect_eq(judge(NULL) == CAUSE_SKIPPED_BATCHES, !trains, "%s",
			     cause_names[diagnosis.cause]);
		cr_expect_eq(diagnosis.skipped.count, trains ? 0 : 240);
		cr_expect_eq(diagnosis.advice.steps[0].id == ADVICE_SKIP_IN_SAMPLER, !trains);
		cr_expect(trains || diagnosis.advice.count == 1, "no setting of the loader");
	}
}

/* Makes a run whose first 240 of 400 batches have short steps, and judges it. */
static struct skipped find_skipped(double wait_ms, bool is_part)
{
	struct skipped skipped;

	make(NULL, NULL);
	series.is_part = is_part;
	for (int i = 0; i < LOADS; i++) {
		series.compute_ns[i] = (float)(i < 240 ? 0.1 * MS : 30 * MS);
		series.wait_ns[i] = (float)(i < 240 ? wait_ms * MS : 5 * MS);
	}
	stall_judge(&series, &finding);
	skipped_find(&series, &finding, false, &skipped);
	series_done(&series);
	return skipped;
}

Test(skipped, waits_count_up_to_the_last_batch_that_is_thrown_away)
{
	struct skipped skipped = find_skipped(25, true);

	cr_expect_eq(skipped.count, 240);
	cr_expect_float_eq(skipped.wait_ns, 240 * 25 * MS, MS);
	cr_expect_float_eq(skipped.wait_share, 240 * 25 / (240 * 25 + 160 * 5.), 3e-4, "%g",
			   skipped.wait_share);
	/* A run's first wait is start-up. */
	skipped = find_skipped(25, false);
	cr_expect_float_eq(skipped.wait_ns, 239 * 25 * MS, MS);
	/* Most of the waiting is for the batches that are trained on. */
	cr_expect_eq(find_skipped(3, true).count, 0);
	cr_expect_eq(find_skipped(4, true).count, 240);
}

/* Judges 4 epochs of 100 batches, of which every second is a pass whose steps take `pass_ms`. */
static enum cause judge_passes(double pass_ms, int busy, bool has_gpu)
{
	epochs = 4;
	make(NULL, NULL);
	for (int i = 0; i < LOADS; i++) {
		const bool is_pass = i / 100 % 2 == 0;

		series.compute_ns[i] = (float)((is_pass ? i % 100 < busy ? 2 : pass_ms : 30) * MS);
		series.wait_ns[i] = (float)(is_pass ? 25 * MS : 5 * MS);
	}
	return judge(&(struct cause_input){.has_gpu = has_gpu});
}

Test(skipped, passes_that_use_no_batch)
{
	double time_ns, passes_ns = 199 * 25 * MS;

	cr_expect_eq(judge_passes(0.005, 10, false), CAUSE_IDLE_PASSES, "%s",
		     cause_names[diagnosis.cause]);
	cr_expect_eq(diagnosis.passes.epoch_count, 2);
	cr_expect_eq(diagnosis.passes.count, 200);
	cr_expect_float_eq(diagnosis.passes.time_ns, passes_ns, MS);
	time_ns = finding.account.time_ns;
	cr_assert_eq(diagnosis.advice.steps[0].id, ADVICE_DROP_PASSES);
	cr_expect_float_eq(diagnosis.advice.steps[0].gain, time_ns / (time_ns - passes_ns) - 1,
			   1e-3);
	/* A forward pass takes longer; some steps work; they take too long; a GPU may work. */
	judge_passes(0.1, 0, false);
	cr_expect_eq(diagnosis.passes.count, 0);
	judge_passes(0.005, 30, false);
	cr_expect_eq(diagnosis.passes.count, 0);
	judge_passes(0.005, 20, false);
	cr_expect_eq(diagnosis.passes.count, 0);
	judge_passes(0.005, 0, true);
	cr_expect_eq(diagnosis.passes.count, 0);
}
