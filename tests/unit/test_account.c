/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts small enough to add up by hand: steps of 100 ms, two workers. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>

#include "analysis/account/account.h"

#define MS INT64_C(1000000)

static struct batch_series series;
static struct account account;

static void begin(int32_t workers)
{
	series_init(&series);
	series.workers = workers;
	account = ACCOUNT_EMPTY;
}

/* Adds a batch whose step takes 100 ms. handover_ms < 0: not known. */
static void add(int32_t epoch, int32_t batch, int64_t wait_ms, int64_t handover_ms)
{
	struct batch_row row = BATCH_ROW_UNKNOWN;

	row.epoch = epoch;
	row.batch = batch;
	row.wait_ns = wait_ms * MS;
	row.compute_ns = 100 * MS;
	if (handover_ms >= 0)
		row.handover_ns = handover_ms * MS;
	cr_assert_eq(series_append(&series, &row), 0);
}

static void add_epoch(int32_t epoch, int64_t begin_ms, float setup_ms, int64_t stop_ms,
		      float stopped_ms)
{
	const struct series_epoch e = {
		.epoch = epoch,
		.begin_ns = begin_ms < 0 ? UNKNOWN : begin_ms * MS,
		.setup_ns = setup_ms * 1e6f,
		.stop_begin_ns = stop_ms < 0 ? UNKNOWN : stop_ms * MS,
		.stop_ns = stopped_ms * 1e6f,
	};

	cr_assert_eq(series_add_epoch(&series, &e), 0);
}

static void expect_all(double not_ready_ms, double receiving_ms, double sampling_ms,
		       double start_ms, double end_ms)
{
	const double expected[] = {not_ready_ms, receiving_ms, sampling_ms, start_ms, end_ms};
	double sum = 0;

	for (int part = 0; part < ACCOUNT_PART_MAX; part++) {
		cr_expect_float_eq(account.part_ns[part], expected[part] * 1e6, 10, "%s: %g ms",
				   account_part_names[part], account.part_ns[part] / 1e6);
		sum += account.part_ns[part];
	}
	cr_expect_float_eq(sum, account.wait_ns, 10);
	cr_expect_float_eq(account.time_ns, account.wait_ns + account.step_ns, 10);
}

/* Checks the parts of an account in which choosing samples is unknown. */
static void expect_parts(double not_ready_ms, double receiving_ms, double start_ms, double end_ms)
{
	cr_expect(isnan(account.part_ns[ACCOUNT_SAMPLING]));
	cr_expect(isnan(account.share[ACCOUNT_SAMPLING]));
	account.part_ns[ACCOUNT_SAMPLING] = 0;
	expect_all(not_ready_ms, receiving_ms, 0, start_ms, end_ms);
}

/* Adds a batch of epoch 0 with the time of choosing samples in its wait. sample_ms < 0: unknown. */
static void add_sampled(int32_t batch, int64_t wait_ms, int64_t handover_ms, int64_t sample_ms)
{
	struct batch_row row = BATCH_ROW_UNKNOWN;

	row.batch = batch;
	row.wait_ns = wait_ms * MS;
	row.compute_ns = 100 * MS;
	row.handover_ns = handover_ms * MS;
	row.sample_ns = sample_ms < 0 ? UNKNOWN : sample_ms * MS;
	cr_assert_eq(series_append(&series, &row), 0);
}

/* With workers samples are chosen after a batch was received; two batches are the epoch's start. */
Test(account, sampling_is_no_receiving)
{
	begin(2);
	add_sampled(0, 300, 100, 20);
	add_sampled(1, 50, 40, 30);
	add_sampled(2, 50, 40, 30);
	add_sampled(3, 20, 20, 15);
	add_sampled(4, 20, 5, 10);  /* for another batch that came first */
	add_sampled(5, 10, 5, -1);  /* unknown: all is receiving */
	add_sampled(6, 10, 10, 50); /* longer by another clock */
	account_of_loader(&series, false, 10e6, &account);
	expect_all(10 + 10 + 5, 10 + 5 + 5, 30 + 15 + 10 + 10, 50, 0);
	series_done(&series);
}

Test(account, without_workers_what_is_not_sampling_is_the_load)
{
	begin(0);
	for (int32_t i = 0; i < 5; i++)
		add_sampled(i, 30, 6, 10);
	account_of_loader(&series, false, 10e6, &account);
	expect_all(4 * 20, 0, 4 * 10, 0, 0);
	series_done(&series);
}

/* A thread has two loaders; `seen` of them have a known time of choosing samples. */
Test(account, sampling_is_known_if_it_is_of_one_loader)
{
	const struct account_span span = {1000 * MS, 5000 * MS};

	for (int seen = 0; seen < 3; seen++) {
		begin(2);
		for (int both = 0; both < 2; both++) {
			struct batch_series one = series;

			for (int32_t i = 0; i < 4; i++)
				add_sampled(i, 30, 20, both == seen ? 10 : -1);
			series.first_ns = 1400 * MS;
			account_add(&account, &series, false, 10e6, &span);
			series_done(&series);
			series = one;
		}
		cr_assert_eq(account_close(&account, &span), 0);
		if (seen == 2)
			expect_parts(40, 80, 120, 0);
		else
			expect_all(40, 60, 20, 120, 0);
	}
}

/* Adds two epochs of four batches; the waits of an epoch's first two batches are its start. */
static void add_two_epochs(void)
{
	for (int32_t epoch = 0; epoch < 2; epoch++) {
		add(epoch, 0, 300, 10);
		add(epoch, 1, 20, 10);
		add(epoch, 2, 50, 20);
		add(epoch, 3, 5, 5);
	}
}

Test(account, every_wait_is_in_one_part)
{
	begin(2);
	add_two_epochs();
	add_epoch(0, -1, 40, -1, 7);
	add_epoch(1, -1, 30, -1, 9);
	account_of_loader(&series, false, 10e6, &account);
	/* Without the wait for the very first batch, and without the end after the last step. */
	expect_parts(60, 50, 20 + 300 + 20 + 30, 7);
	cr_expect_float_eq(account.step_ns, 800e6, 1);
	cr_expect_float_eq(account.startup_ns, 340e6, 10);
	cr_expect_float_eq(account.ratio, 487.0 / 1287, 1e-6);
	cr_expect_eq(account.count, 7);
	series_done(&series);
}

Test(account, without_workers_loading_is_what_is_waited_for)
{
	begin(0);
	for (int32_t i = 0; i < 5; i++)
		add(0, i, 30, -1);
	account_of_loader(&series, false, 10e6, &account);
	expect_parts(120, 0, 0, 0);
	series_done(&series);
}

/* The waits count, but their parts are unknown. */
Test(account, of_unknown_readiness_the_parts_are_unknown)
{
	begin(2);
	for (int32_t i = 0; i < 5; i++)
		add(0, i, 30, -1);
	account_of_loader(&series, false, 10e6, &account);
	cr_expect(isnan(account.part_ns[ACCOUNT_NOT_READY]));
	cr_expect(isnan(account.share[ACCOUNT_RECEIVING]));
	cr_expect_float_eq(account.part_ns[ACCOUNT_EPOCH_START], 30e6, 1);
	cr_expect_float_eq(account.ratio, 120.0 / 620, 1e-6);
	series_done(&series);
}

/* A validation between the epochs, whose loader dlprof does not follow, counts as step. */
Test(account, of_a_thread_the_rest_of_its_time_is_step)
{
	const struct account_span span = {1000 * MS, 5000 * MS};

	begin(2);
	add_two_epochs();
	series.first_ns = span.begin_ns;
	series.last_ns = span.end_ns;
	add_epoch(0, 600, 40, 1500, 7);
	add_epoch(1, 3000, 30, 5000, 9);
	account_add(&account, &series, false, 10e6, &span);
	cr_assert_eq(account_close(&account, &span), 0);
	expect_parts(60, 50, 370, 7);
	cr_expect_float_eq(account.time_ns, 4000e6, 1);
	cr_expect_float_eq(account.ratio, 487.0 / 4000, 1e-6);
	series_done(&series);
}

/* All waits for the loader that begins second count, also its first wait. */
Test(account, of_two_loaders_each_wait_counts_once)
{
	const struct account_span span = {1000 * MS, 5000 * MS};

	begin(2);
	add_two_epochs();
	series.first_ns = 1000 * MS;
	add_epoch(0, 600, 40, 2500, 7);
	add_epoch(1, 3000, 30, 5000, 9);
	account_add(&account, &series, false, 10e6, &span);
	series.first_ns = 1400 * MS;
	account_add(&account, &series, false, 10e6, &span);
	cr_assert_eq(account_close(&account, &span), 0);
	expect_parts(120, 100, 2 * 370 + 300, 14);
	/* Both iterators were made before the first batch came: they are start-up. */
	cr_expect_float_eq(account.startup_ns, (300 + 40 + 40) * 1e6, 10);
	cr_expect_float_eq(account.time_ns, 4000e6, 1);
	series_done(&series);
}

/* A loop that is left after next() has no step after its last wait. */
Test(account, after_the_last_step_nothing_counts)
{
	const struct account_span span = {1000 * MS, 5000 * MS};

	for (int inside = 0; inside < 2; inside++) {
		begin(2);
		add_two_epochs();
		series.first_ns = span.begin_ns;
		series.last_ns = span.end_ns;
		series.tail_begin_ns = span.end_ns - inside;
		account_add(&account, &series, false, 10e6, &span);
		cr_assert_eq(account_close(&account, &span), 0);
		expect_parts(60, inside ? 50 : 45, 340, 0);
		series_done(&series);
	}
}

Test(account, waits_that_do_not_fit_are_no_account)
{
	const struct account_span span = {1000 * MS, 1300 * MS};

	begin(2);
	add_two_epochs();
	series.first_ns = span.begin_ns;
	account_add(&account, &series, false, 10e6, &span);
	cr_expect_eq(account_close(&account, &span), -ERANGE);
	series_done(&series);
}

/* A part of a run, its second epoch: the epoch's start is no start-up. */
Test(account, a_part_of_a_run_has_no_start_up)
{
	begin(2);
	series.is_part = true;
	add(1, 0, 300, 10);
	add(1, 1, 20, 10);
	add(1, 2, 50, 20);
	add_epoch(1, 3000, 30, 5000, 9);
	account_of_loader(&series, false, 10e6, &account);
	expect_parts(30, 20, 350, 0);
	cr_expect(isnan(account.startup_ns));
	series_done(&series);
}

/* The GPU is busy in half of each wait; of one batch its idle time is unknown. */
Test(account, by_the_gpus_clock_a_part_is_its_idle_time)
{
	begin(2);
	for (int32_t i = 0; i < 6; i++) {
		struct batch_row row = BATCH_ROW_UNKNOWN;

		row.batch = i;
		row.wait_ns = 40 * MS;
		row.handover_ns = 10 * MS;
		row.compute_ns = 100 * MS;
		if (i != 4)
			row.gpu_idle_ns = 20 * MS;
		cr_assert_eq(series_append(&series, &row), 0);
	}
	account_of_loader(&series, true, 10e6, &account);
	expect_parts(3 * 15, 3 * 5, 20, 0);
	cr_expect_float_eq(account.time_ns, (5 * 100 + 4 * 40) * 1e6, 10);
	cr_expect_float_eq(account.unseen_ns, 140e6, 10);
	series_done(&series);
}

Test(account, by_the_gpus_clock_sampling_is_its_idle_time_too)
{
	begin(2);
	for (int32_t i = 0; i < 6; i++) {
		struct batch_row row = BATCH_ROW_UNKNOWN;

		row.batch = i;
		row.wait_ns = 40 * MS;
		row.handover_ns = 20 * MS;
		row.sample_ns = 16 * MS;
		row.compute_ns = 100 * MS;
		row.gpu_idle_ns = 20 * MS;
		cr_assert_eq(series_append(&series, &row), 0);
	}
	account_of_loader(&series, true, 10e6, &account);
	expect_all(4 * 10, 4 * 2, 4 * 8, 20, 0);
	series_done(&series);
}
