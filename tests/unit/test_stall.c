/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests verdicts on series small enough to judge by hand. A step computes 100 ms unless another
 * time is given, so that theta is 10 ms.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/account/stall.h"

#define MS INT64_C(1000000)

static struct batch_series series;
static struct finding finding;
static int32_t next_batch;

static void begin(int32_t workers)
{
	series_init(&series);
	series.workers = workers;
	next_batch = 0;
}

static void add_row(int32_t epoch, int32_t batch, int64_t wait_ns, int64_t compute_ns, int ready)
{
	struct batch_row row = BATCH_ROW_UNKNOWN;

	row.wait_ns = wait_ns;
	row.compute_ns = compute_ns;
	row.load_ns = 400 * MS;
	row.epoch = epoch;
	row.batch = batch;
	row.head_ready = (int8_t)ready;
	cr_assert_eq(series_append(&series, &row), 0);
}

/* Adds batches after the last one, with steps of 100 ms. ready: 1, 0, or -1: not known. */
static void add(int count, int64_t wait_ms, int ready)
{
	int32_t batch = next_batch;

	while (count--)
		add_row(0, batch++, wait_ms * MS, 100 * MS, ready);
	next_batch = batch;
}

static void judge(void)
{
	stall_judge(&series, &finding);
	series_done(&series);
}

Test(stall, ratios_by_hand)
{
	begin(4);
	add(4, 500, 0);	  /* excluded: 2 s of waiting */
	add(80, 1, 1);	  /* ready: 80 ms */
	add(20, 100, 0);  /* starved: 2 s */
	judge();

	cr_assert_eq(finding.batch_count, 104);
	cr_assert_eq(finding.steady_count, 100);
	cr_assert_eq(finding.starved_count, 20);
	cr_assert_float_eq(finding.theta_ns, 10e6, 1);
	/* Waits of 4.08 s without the very first, which is start-up, and steps of 10.4 s. */
	cr_assert_float_eq(finding.stall_ratio, 3580.0 / 13980, 1e-9);
	cr_assert_float_eq(finding.trimmed_ratio, 3480.0 / 13980, 1e-9);
	cr_assert_float_eq(finding.account.share[ACCOUNT_NOT_READY], 2000.0 / 13980, 1e-9);
	cr_assert_float_eq(finding.account.share[ACCOUNT_RECEIVING], 80.0 / 13980, 1e-9);
	cr_assert_float_eq(finding.account.share[ACCOUNT_EPOCH_START], 1500.0 / 13980, 1e-9);
	cr_assert_float_eq(finding.account.share[ACCOUNT_EPOCH_END], 0, 1e-9);
	cr_assert_float_eq(finding.account.startup_ns, 500e6, 1);
	cr_assert_float_eq(finding.masked_share, 1 - 2000.0 / 40000, 1e-9);
	cr_assert_float_eq(finding.gain_max, 13980.0 / 10400, 1e-9);
	cr_assert_float_eq(finding.load_mean_ns, 400e6, 1e-3);
	cr_assert_float_eq(finding.rho, 1, 1e-9);
	cr_assert_float_eq(finding.eta, 100 / 12.080 / 10, 1e-9);
	cr_assert_float_eq(finding.wait_all_ns, 4080e6, 1);
	cr_assert_eq(finding.verdict, STALL_VERDICT_HIGHLY);
	cr_assert(finding.starved);
	cr_assert_eq(finding.confidence, STALL_CONFIDENCE_MEDIUM);
}

Test(stall, a_wait_of_theta_starves_and_one_below_does_not)
{
	begin(1);
	add(101, 0, 0);
	add_row(0, 101, 10 * MS, 100 * MS, 0);
	add_row(0, 102, 10 * MS - 1, 100 * MS, 0);
	judge();
	cr_assert_eq(finding.starved_count, 1);
}

Test(stall, theta_is_never_below_two_milliseconds)
{
	begin(1);
	for (int i = 0; i < 50; i++)
		add_row(0, i, i % 2 ? 1999999 : 2000000, 1 * MS, 0);
	cr_assert_eq(stall_theta_ns(&series), 2 * MS);
	judge();
	cr_assert_eq(finding.starved_count, 24); /* the first wait is excluded */
}

/* All batches are ready, but the training waits while it receives them. */
Test(stall, receiving_ready_batches_is_waiting)
{
	begin(4);
	add(4, 0, 1);
	add(100, 50, 1);
	judge();
	cr_assert_eq(finding.starved_count, 0);
	cr_assert_float_eq(finding.stall_ratio, 5000.0 / 15400, 1e-9);
	cr_assert_float_eq(finding.account.share[ACCOUNT_RECEIVING], 5000.0 / 15400, 1e-9);
	cr_assert_eq(finding.verdict, STALL_VERDICT_HIGHLY);
}

Test(stall, of_unknown_readiness_the_wait_decides)
{
	begin(4);
	add(4, 0, -1);
	add(300, 50, -1);
	judge();
	cr_assert_eq(finding.starved_count, 300);
	cr_assert(isnan(finding.account.share[ACCOUNT_RECEIVING]));
	cr_assert_float_eq(finding.stall_ratio, 15.0 / 45.4, 1e-9);
	cr_assert_eq(finding.confidence, STALL_CONFIDENCE_MEDIUM); /* one level lower */
}

/* Of each epoch as many batches are excluded as there are workers; 8 if unknown, 1 without. */
Test(stall, the_first_round_of_every_epoch_is_not_steady)
{
	static const struct {
		int32_t workers;
		size_t steady;
	} cases[] = {{0, 2 * 49}, {1, 2 * 49}, {4, 2 * 46}, {-1, 2 * 42}, {50, 0}, {INT32_MAX, 0}};

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		begin(cases[c].workers);
		for (int epoch = 0; epoch < 2; epoch++)
			for (int i = 0; i < 50; i++)
				add_row(epoch, i, 0, 100 * MS, 1);
		judge();
		cr_assert_eq(finding.steady_count, cases[c].steady);
		cr_assert_eq(finding.epoch_count, 2);
	}
}

Test(stall, lost_records_still_count_as_deliveries)
{
	begin(4);
	/* Batches 2 and 3 were delivered, but have no record: batch 4 is the fifth. */
	add_row(0, 0, 0, 100 * MS, 1);
	add_row(0, 1, 0, 100 * MS, 1);
	for (int i = 4; i < 104; i++)
		add_row(0, i, 0, 100 * MS, 1);
	judge();
	cr_assert_eq(finding.steady_count, 100);
	cr_assert_eq(finding.missing_count, 2);
	cr_assert_eq(finding.verdict, STALL_VERDICT_NOT);
}

Test(stall, a_batch_without_compute_is_not_steady)
{
	begin(1);
	add(31, 0, 1);
	add_row(0, 31, 5000 * MS, UNKNOWN, 0);
	judge();
	cr_assert_eq(finding.steady_count, 30);
	cr_assert_eq(finding.starved_count, 0);
}

/* Returns the verdict on a run with this ratio, made of 500 waits and 1004 steps of 100 ms. */
static enum stall_verdict verdict_at(double ratio)
{
	begin(4);
	add(4, 0, 1);
	for (int i = 0; i < 1000; i++)
		add_row(0, 4 + i, i % 2 ? (int64_t)(2008e5 * ratio / (1 - ratio)) + 1 : 0, 100 * MS,
			!(i % 2));
	judge();
	return finding.verdict;
}

Test(stall, bands)
{
	cr_assert_eq(verdict_at(0.0), STALL_VERDICT_NOT);
	cr_assert_eq(verdict_at(0.0499), STALL_VERDICT_NOT);
	cr_assert_eq(verdict_at(0.0501), STALL_VERDICT_MODERATELY);
	cr_assert_eq(verdict_at(0.1999), STALL_VERDICT_MODERATELY);
	cr_assert_eq(verdict_at(0.2001), STALL_VERDICT_HIGHLY);
	cr_assert_eq(verdict_at(0.9), STALL_VERDICT_HIGHLY);
}

/* One long stall counts in the ratio; the trimmed ratio is low, since it leaves that stall out. */
Test(stall, one_long_stall_is_waiting_too)
{
	begin(4);
	add(4, 0, 1);
	add(100, 0, 1);
	add(1, 3000, 0);
	add(10, 15, 0);
	judge();
	cr_assert_float_eq(finding.stall_ratio, 3150.0 / 14650, 1e-9);
	cr_assert(finding.trimmed_ratio < STALL_TRIMMED);
	cr_assert_eq(finding.verdict, STALL_VERDICT_HIGHLY);
}

/* The trimmed ratio leaves out ceil(0.5 %) of the stalls: two of 201. */
Test(stall, trims_half_a_percent_rounded_up)
{
	begin(1);
	add(1, 0, 0);
	add(199, 20, 0);
	add(2, 1000, 0);
	judge();
	cr_assert_float_eq(finding.trimmed_ratio, 199 * 20.0 / (202 * 100 + 199 * 20 + 2000), 1e-9);
}

Test(stall, without_workers_readiness_need_not_be_known)
{
	begin(0);
	add(400, 100, -1);
	judge();
	cr_assert_eq(finding.verdict, STALL_VERDICT_HIGHLY);
	cr_assert_eq(finding.confidence, STALL_CONFIDENCE_HIGH);
	cr_assert(isnan(finding.rho));
}

Test(stall, refuses_to_judge_what_it_does_not_know)
{
	begin(4);
	judge();
	cr_assert_eq(finding.gap, STALL_GAP_NO_BATCHES);

	begin(4);
	add(STALL_FEWEST, 500, 0);
	judge();
	cr_assert_eq(finding.gap, STALL_GAP_FEW_BATCHES);

	begin(4);
	add(1 + STALL_FEWEST, 500, 0);
	judge();
	cr_assert_eq(finding.gap, STALL_GAP_NONE);

	begin(4);
	for (int i = 0; i < 100; i++)
		add_row(0, i, 5 * MS, UNKNOWN, 0);
	judge();
	cr_assert_eq(finding.gap, STALL_GAP_COMPUTE);

	begin(4);
	for (int i = 0; i < 100; i++)
		add_row(0, i, UNKNOWN, 5 * MS, 0);
	cr_assert_eq(stall_theta_ns(&series), 2 * MS);
	judge();
	cr_assert_eq(finding.gap, STALL_GAP_WAIT);
	cr_assert(isnan(finding.stall_ratio));
	cr_assert_eq(finding.verdict, STALL_VERDICT_INCOMPLETE);
	cr_assert_not(finding.starved);
	cr_assert_eq(finding.confidence, STALL_CONFIDENCE_LOW);

	/* Steps that take no time at all have no share of waiting. */
	begin(4);
	for (int i = 0; i < 100; i++)
		add_row(0, i, 0, 0, 0);
	judge();
	cr_assert_eq(finding.verdict, STALL_VERDICT_INCOMPLETE);
	cr_assert(isnan(finding.stall_ratio));
}

Test(stall, refuses_where_records_were_lost)
{
	begin(1);
	add(1000, 500, 0);
	series.lost_count = 100; /* of 2100 */
	judge();
	cr_assert_eq(finding.verdict, STALL_VERDICT_HIGHLY);
	cr_assert_eq(finding.confidence, STALL_CONFIDENCE_MEDIUM);

	begin(1);
	add(1000, 500, 0);
	series.lost_count = 110; /* of 2110 */
	judge();
	cr_assert_eq(finding.gap, STALL_GAP_LOSS);

	begin(1);
	add(500, 500, 0);
	add_row(0, 560, 500 * MS, 100 * MS, 0); /* 60 of 561 have no record */
	judge();
	cr_assert_eq(finding.gap, STALL_GAP_LOSS);
	cr_assert_eq(finding.missing_count, 60);
}

/* Judges 80 batches: waits of 60 ms, for loads of 120 ms in 2 workers, and steps of 40 ms. */
static void judge_beside_workers(double main_share, double load_cpu_ms, double other_cores)
{
	begin(2);
	for (int i = 0; i < 80; i++)
		add_row(0, i, 60 * MS, 40 * MS, 0);
	series.cores = 2;
	series.main_cores = 0.2; /* 20 ms a batch, half of the step */
	series.main_share = main_share;
	series.other_cores = other_cores;
	series.load_cpu_ns = load_cpu_ms * 1e6;
	series.load_cpu_count = 1;
	judge();
}

/* In a step the thread computes 20 ms and waits 20 ms for a core, which ideal input saves too. */
Test(stall, ideal_input_also_frees_the_cores_of_workers)
{
	const double waits = 1 - 40.0 / 100;

	judge_beside_workers(0.6, 120, 0.05);
	cr_expect_float_eq(finding.gain_alone, finding.gain_max / (1 - 20 * (1 / 0.6 - 1) / 40),
			   0.05);
	cr_expect_float_eq(finding.stall_ratio, waits, 0.02);
	/* Loads that work 4 ms cannot take more than that from a step. */
	judge_beside_workers(0.6, 4, 0.05);
	cr_expect_float_eq(finding.gain_alone, finding.gain_max / (1 - 4.0 / 40), 0.03);
	/* 21.7 ms of waits for a core are taken for the 20 ms that the step has left for them. */
	judge_beside_workers(0.48, 120, 0.05);
	cr_expect_float_eq(finding.gain_alone, finding.gain_max / (1 - 20.0 / 40), 0.15);
	/* Loads work 120 ms a batch, other programs 50 ms: these keep their part of the waits. */
	judge_beside_workers(0.6, 120, 0.5);
	cr_expect_float_eq(finding.gain_alone,
			   finding.gain_max /
				   (1 - 120.0 / (120 + 50) * 20 * (1 / 0.6 - 1) / 40),
			   0.05);
}

Test(stall, ideal_input_frees_no_cores_that_workers_did_not_take)
{
	judge_beside_workers(0.99, 120, 0.05); /* the thread had a core whenever it wanted one */
	cr_expect_eq(finding.gain_alone, finding.gain_max);
	judge_beside_workers(0.4, 120, 0.05); /* 30 ms: more than steps can have waited */
	cr_expect_eq(finding.gain_alone, finding.gain_max);
	judge_beside_workers(0.6, 10, 1.5); /* nearly all of what was taken, other programs took */
	cr_expect_eq(finding.gain_alone, finding.gain_max);
	judge_beside_workers(0.6, 0.5, 0.05); /* loads only sleep */
	cr_expect_eq(finding.gain_alone, finding.gain_max);
	judge_beside_workers(NAN, 4, 0.05);
	cr_expect_eq(finding.gain_alone, finding.gain_max);
}

/* No value in a damaged database may overflow. */
Test(stall, absurd_values_are_survived)
{
	begin(INT32_MAX);
	for (int i = 0; i < 50; i++)
		add_row(i % 3 - 1, INT32_MAX - i, INT64_MAX, INT64_MAX, 1);
	judge();
	begin(0);
	for (int i = 0; i < 50; i++)
		add_row(0, i, INT64_MAX, i ? 0 : INT64_MAX, 0);
	series.lost_count = INT64_MAX;
	judge();
	cr_assert(finding.gain_max > 1 && isfinite(finding.gain_max));
}

Test(stall, every_name_is_there)
{
	for (int i = STALL_VERDICT_INCOMPLETE; i < STALL_VERDICT_MAX; i++)
		cr_assert_not_null(stall_verdict_ids[i]);
	for (int i = STALL_GAP_NONE + 1; i < STALL_GAP_MAX; i++)
		cr_assert_not_null(stall_gap_ids[i]);
	for (int i = 0; i < STALL_CONFIDENCE_MAX; i++)
		cr_assert_not_null(stall_confidence_ids[i]);
}
