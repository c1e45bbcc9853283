/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the search for periods on series whose period is known; tests/bench has its error rates. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/period/events.h"
#include "analysis/period/period.h"
#include "analysis/statistics/fold.h"

#define MS INT64_C(1000000)

static struct batch_series series;
static struct period period;

static void begin(int32_t workers)
{
	series_init(&series);
	series.workers = workers;
}

static void add(int32_t epoch, int32_t batch, int64_t wait_ns)
{
	struct batch_row row = BATCH_ROW_UNKNOWN;

	row.epoch = epoch;
	row.batch = batch;
	row.wait_ns = wait_ns;
	row.compute_ns = 100 * MS;
	cr_assert_eq(series_append(&series, &row), 0);
}

/* Searches the series' waits for a period; steps of half a second or more are breaks. */
static void find(bool slips)
{
	const struct events_query breaks = {
		.series = &series, .values = series.compute_ns, .theta_ns = 500 * MS};
	const struct events_query query = {.series = &series,
					   .values = series.wait_ns,
					   .theta_ns = 10 * MS,
					   .from_start = true,
					   .slips = slips,
					   .breaks = &breaks};

	cr_assert_eq(period_find(&query, &period), 0);
	series_done(&series);
}

/* Adds batches with a wait of a second at place `phase` of every `every` batches. */
static void spikes(int32_t count, int32_t every, int32_t phase)
{
	for (int32_t i = 0; i < count; i++)
		add(0, i, i % every == phase ? 1000 * MS : MS);
}

Test(fold, evidence_by_hand)
{
	/* KL(1 || 1/4) = ln 4; Bennett with b = 3/4, V = 3/16: u = 3, h = 4 ln 4 - 3. */
	cr_assert_float_eq(fold_evidence(10, 1, 0.25, 0.1875, 1), 10 * log(4), 1e-9);
	cr_assert_float_eq(fold_evidence(10, 0.5, 0.25, 0.001, 1),
			   10 * 0.001 / 0.5625 * (188.5 * log(188.5) - 187.5), 1e-6);
	cr_assert_eq(fold_evidence(10, 0.25, 0.25, 0.1, 1), 0);
	cr_assert_eq(fold_evidence(10, 0, 0, 0, 1), 0);
	cr_assert_eq(fold_evidence(10, 1, 1, 0, 1), 0);
}

Test(fold, tail_of_the_gamma_distribution)
{
	cr_assert_float_eq(fold_log_gamma_tail(1, 5), -5, 1e-9);
	cr_assert_float_eq(fold_log_gamma_tail(3, 10), -10 + log(1 + 10 + 50), 1e-9);
	cr_assert_eq(fold_log_gamma_tail(10, 3), 0);
	/* Far out the normal distribution with mean and variance 10000 is near enough. */
	cr_assert(fabs(fold_log_gamma_tail(10000, 10500) - log(4.1e-7)) < 0.4);
}

/* Compares the fast loops with the definition, for every period; one segment starts late. */
Test(fold, agrees_with_the_definition)
{
	enum { N = 700 };
	float x[N];
	double sums[N + 1] = {0}, squares[N + 1] = {0};
	struct fold_segment segments[] = {{0, 300, 0}, {300, 400, 305}};
	struct fold_series fold = {x, sums, squares, segments, 2, 1};
	unsigned seed = 5;

	for (int i = 0; i < N; i++) {
		x[i] = rand_r(&seed) % 5 == 0 ? (float)(rand_r(&seed) % 1000) / 1000 : 0;
		sums[i + 1] = sums[i] + (double)x[i];
		squares[i + 1] = squares[i] + (double)(x[i] * x[i]);
	}
	for (size_t p = 50; p <= 233; p++) {
		double total[FOLD_MOST] = {0}, mean = 0, variance = 0, top = 0;
		size_t rows = 0, k;

		for (int s = 0; s < 2; s++) {
			size_t at = segments[s].begin + (p - segments[s].lead % p) % p;

			for (; at + p <= segments[s].begin + segments[s].count; at += p, rows++) {
				double sum = 0, square = 0;

				for (k = 0; k < p; k++) {
					total[k] += (double)x[at + k];
					sum += (double)x[at + k];
					square += (double)(x[at + k] * x[at + k]);
				}
				mean += sum / (double)p;
				variance += square / (double)p - sum * sum / (double)(p * p);
			}
		}
		if (rows < 3) {
			cr_assert_eq(fold_log_p(&fold, p, 1), 0);
			continue;
		}
		for (k = 0; k < p; k++)
			top = fmax(top, total[k] / (double)rows);
		/* With less than 16 rows the expected value has one scale. */
		cr_assert_float_eq(
			fold_log_p(&fold, p, 1),
			fmin(0,
			     log((double)p) - fold_evidence((double)rows, top, mean / (double)rows,
							    variance / (double)rows, 1)),
			1e-4, "P = %zu", p);
	}
}

/* Returns by how much a segment's evidence exceeds that of its phases alone; by definition. */
static double excess_of(const float *x, const struct fold_segment *segment, size_t p)
{
	double total[FOLD_MOST] = {0}, mean = 0, variance = 0, top = 0;
	size_t at = segment->begin + (p - segment->lead % p) % p, rows = 0, k;

	for (; at + p <= segment->begin + segment->count; at += p, rows++) {
		double sum = 0, square = 0;

		for (k = 0; k < p; k++) {
			total[k] += (double)x[at + k];
			sum += (double)x[at + k];
			square += (double)(x[at + k] * x[at + k]);
		}
		mean += sum / (double)p;
		variance += square / (double)p - sum * sum / (double)(p * p);
	}
	for (k = 0; k < p; k++)
		top = fmax(top, total[k] / (double)rows);
	return fmax(0, fold_evidence((double)rows, top, mean / (double)rows,
				     variance / (double)rows, 1) - log((double)p));
}

/* Where the phase may differ from segment to segment, each is judged by itself. */
Test(fold, by_segment_agrees_with_the_definition)
{
	enum { N = 4000 };
	static float x[N];
	static double sums[N + 1], squares[N + 1];
	struct fold_segment segments[] = {{0, 2000, 0}, {2000, 2000, 17}};
	struct fold_series fold = {x, sums, squares, segments, 2, 1, true};
	unsigned seed = 6;

	for (int i = 0; i < N; i++) {
		x[i] = rand_r(&seed) % 5 == 0 ? (float)(rand_r(&seed) % 1000) / 1000 : 0;
		if (i % 60 == (i < 2000 ? 7 : 40))
			x[i] = 0.9f;
		sums[i + 1] = sums[i] + (double)x[i];
		squares[i + 1] = squares[i] + (double)(x[i] * x[i]);
	}
	for (size_t p = 20; p <= 240; p += 20) {
		const double sum = excess_of(x, &segments[0], p) + excess_of(x, &segments[1], p);

		cr_expect_float_eq(fold_log_p(&fold, p, 1), fold_log_gamma_tail(2, sum), 1e-3,
				   "P = %zu", p);
		cr_expect(p % 60 || fold_log_p(&fold, p, 1) < -4, "P = %zu", p);
	}
}

Test(period, every_period_from_two_to_its_limit)
{
	for (int32_t every = 2; every <= 60; every++) {
		begin(-1);
		spikes(every * 20, every, every / 3);
		find(false);
		cr_assert_eq(period.batches, every, "%d: %ld", every, (long)period.batches);
		cr_assert(period.regular);
		cr_assert_eq(period.phase, every / 3);
		cr_assert_float_eq(period.share, 1, 1e-6);
		cr_assert_float_eq(period.cost_ns, 20e9, 1e6);
		cr_assert(period.log_p < log(PERIOD_ALPHA));
	}
}

Test(period, long_periods_are_found_from_the_events_alone)
{
	begin(4);
	spikes(30000, 6000, 17);
	find(false);
	cr_assert_eq(period.batches, 6000);
	cr_assert_eq(period.phase, 17);
	cr_assert(period.regular);
	begin(4);
	spikes(5000, 1000, 999);
	find(false);
	cr_assert_eq(period.batches, 1000);
	cr_assert_float_eq(period.log_p / log(10), -8.5, 1.5);
}

/* Of more than 2^20 values only windows are tested. */
Test(period, many_batches_are_sampled, .timeout = 60)
{
	begin(-1);
	spikes(1200000, 7, 2);
	find(false);
	cr_assert_eq(period.batches, 7);
	cr_assert_eq(period.phase, 2);
	cr_assert_float_eq(period.cost_ns, 1200000 / 7 * 1e9, 2e9);
}

static int64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000 * MS + ts.tv_nsec;
}

/* Returns the CPU time for batches of which a tenth wait, and whose numbers are `apart` apart. */
static int64_t cost_ns(int32_t count, int32_t apart)
{
	unsigned seed = 7;
	int64_t start_ns;

	begin(-1);
	for (int32_t i = 0; i < count; i++)
		add(0, i * apart, rand_r(&seed) % 10 ? MS : 1000 * MS);
	start_ns = cpu_ns();
	find(false);
	return cpu_ns() - start_ns;
}

/* Few batches with numbers far apart, as in a damaged database, cost no more than many batches. */
Test(period, numbers_far_apart_cost_no_more)
{
	int64_t honest_ns = cost_ns(32768, 1), far_ns = cost_ns(2048, 1000000);

	cr_assert_lt(far_ns, 3 * honest_ns);
	begin(-1);
	for (int32_t i = 0; i < 2000; i++)
		add(0, i * 100, i % 8 == 3 ? 1000 * MS : MS);
	find(false);
	cr_assert_eq(period.batches, 800);
	cr_assert_float_eq(period.share, 1, 1e-6);
}

Test(period, epochs_start_anew)
{
	begin(-1);
	for (int32_t epoch = 0; epoch < 6; epoch++)
		for (int32_t i = 0; i < 51; i++)
			add(epoch, i, i % 8 == 3 ? 1000 * MS : MS);
	find(false);
	cr_assert_eq(period.batches, 8);
	cr_assert_eq(period.phase, 3);
	/* A period that goes on over epochs, as a checkpoint every so many steps does. */
	begin(-1);
	for (int32_t i = 0; i < 612; i++)
		add(i / 51, i % 51, i % 20 == 3 ? 1000 * MS : MS);
	find(false);
	cr_assert_eq(period.batches, 20);
}

Test(period, lost_records_keep_their_place)
{
	begin(-1);
	for (int32_t i = 0; i < 400; i++)
		if (i % 13 != 5)
			add(0, i, i % 8 == 3 ? 1000 * MS : MS);
	find(false);
	cr_assert_eq(period.batches, 8);
	cr_assert_eq(period.phase, 3);
}

/* First all events are at one phase, as with workers in step; then other batches wait too. */
Test(period, shares)
{
	unsigned seed = 3;

	begin(-1);
	for (int32_t i = 0; i < 2000; i++)
		add(0, i, i % 8 == 3 ? 1000 * MS : 100 * MS);
	find(false);
	cr_assert_eq(period.batches, 8);
	cr_assert(period.regular);
	cr_assert_float_eq(period.share, 10.0 / 17, 0.01);
	begin(-1);
	for (int32_t i = 0; i < 2000; i++)
		add(0, i, i % 8 == 3 ? 300 * MS : (50 + rand_r(&seed) % 100) * MS);
	find(false);
	cr_assert_eq(period.batches, 8);
	cr_assert_not(period.regular, "share %g", period.share);
}

Test(period, prefers_the_workers_to_a_divisor)
{
	unsigned seed = 9;

	/* Events are at phase 1 or 5 of 8, mostly 1: there is more evidence for 4 than for 8. */
	begin(8);
	for (int32_t i = 0, at = 1; i < 800; i++) {
		if (i % 8 == 0)
			at = rand_r(&seed) % 100 < 65 ? 1 : 5;
		add(0, i, i % 8 == at ? 1000 * MS : MS);
	}
	find(false);
	cr_assert_eq(period.batches, 8);
	begin(8);
	spikes(800, 4, 1); /* a true period of four is found */
	find(false);
	cr_assert_eq(period.batches, 4);
}

/* Four multiples of the workers' number share half of the error probability: ln 8 for each. */
Test(period, a_multiple_of_the_workers_is_no_chance_find)
{
	double log_p[2];

	for (int32_t times = 1; times <= 5; times++) {
		for (int known = 0; known < 2; known++) {
			begin(known ? 12 : 1);
			spikes(800, 12 * times, 1);
			find(false);
			cr_assert_eq(period.batches, 12 * times);
			log_p[known] = period.log_p;
		}
		/* Any other one shares the other half with all periods up to the longest. */
		if (times <= 4)
			cr_expect_lt(log_p[1], log_p[0] - 1, "%d: %g %g", times, log_p[1],
				     log_p[0]);
		else
			cr_expect_float_eq(log_p[1], log_p[0] + log(2), 1e-9, "%g %g", log_p[1],
					   log_p[0]);
	}
}

Test(period, nothing_is_found_where_nothing_is)
{
	unsigned seed = 1;

	begin(-1);
	find(false);
	cr_assert_not(period.tested);
	begin(-1);
	spikes(11, 3, 0); /* too few batches */
	find(false);
	cr_assert_not(period.tested);
	begin(-1);
	for (int32_t i = 0; i < 100; i++)
		add(0, i, i == 20 || i == 40 ? 1000 * MS : MS); /* two events */
	find(false);
	cr_assert_not(period.tested);
	cr_assert_eq(period.event_count, 2);
	begin(-1);
	for (int32_t i = 0; i < 500; i++)
		add(0, i, 500 * MS); /* all waits are equal */
	find(false);
	cr_assert_eq(period.batches, 0);
	for (int round = 0; round < 50; round++) {
		begin(round % 2 ? 8 : -1);
		for (int32_t i = 0; i < 300; i++)
			add(0, i, rand_r(&seed) % 10 ? MS : rand_r(&seed) % 1000 * MS);
		find(true);
		cr_assert_eq(period.batches, 0);
	}
}

/* Searches waits every `period_of` batches, counted from the last of long steps, `pause` apart. */
static void paused(int32_t count, int32_t period_of, int32_t pause)
{
	begin(period_of);
	for (int32_t i = 0; i < count; i++) {
		struct batch_row row = BATCH_ROW_UNKNOWN;

		row.batch = i;
		row.wait_ns = (i % pause % period_of == period_of - 1 ? 400 : 1) * MS;
		row.compute_ns = (i % pause == pause - 1 ? 3000 : 100) * MS;
		cr_assert_eq(series_append(&series, &row), 0);
	}
	find(false);
}

Test(period, beside_events_of_the_training)
{
	/* 40 is no multiple of 6, and all phases that occur are even. */
	paused(400, 6, 40);
	cr_expect_eq(period.batches, 6, "%ld", (long)period.batches);
	cr_expect(period.regular, "%g", period.share);
	/* Every second batch waits: after one long step the even ones, after the next the odd. */
	paused(150, 2, 25);
	cr_expect_eq(period.batches, 2, "%ld", (long)period.batches);
	cr_expect(period.regular, "%g", period.share);
	paused(2000, 2, 25);
	cr_expect_eq(period.batches, 2, "%ld", (long)period.batches);
	cr_expect(period.regular, "%g", period.share);
	/* A wait once after each long step has the steps' period, and none if these have none. */
	begin(4);
	for (int32_t i = 0, next = 30; i < 1000; i++) {
		struct batch_row row = BATCH_ROW_UNKNOWN;

		row.batch = i;
		row.wait_ns = (i == next - 20 ? 400 : 1) * MS;
		row.compute_ns = (i == next ? 3000 : 100) * MS;
		next += i == next ? 30 + i * 7 % 11 : 0;
		cr_assert_eq(series_append(&series, &row), 0);
	}
	find(false);
	cr_expect_eq(period.batches, 0, "%ld", (long)period.batches);
}

/* Gaps of 4, 4 and 3 batches: regular, though the phase drifts. Only logs are searched for that. */
Test(period, slips)
{
	for (int slips = 0; slips < 2; slips++) {
		begin(-1);
		for (int32_t i = 0; i < 88; i++)
			add(0, i, i % 11 % 4 == 0 ? 1000 * MS : 100 * MS * (i * 7 % 5) / 5);
		find(slips);
		cr_assert_eq(period.drifting, slips == 1);
		cr_assert_eq(period.batches, slips ? 4 : 0);
	}
}

/* Of three events, two pairs are 500 batches apart. No pair of two events is. */
Test(period, a_long_period_of_three_events)
{
	struct event list[] = {{70, 40}, {570, 40}, {1070, 40}};
	const struct events events = {.count = 3, .cap_ns = 20, .list = list};
	const struct events two = {.count = 2, .cap_ns = 20, .list = list};
	const struct fold_segment whole = {0, 2000, 0};
	size_t found;
	double log_p;

	cr_assert_eq(events_long_period(&events, &whole, 1, true, 64, 999, &found, &log_p), 0);
	cr_expect_eq(found, 500, "%zu", found);
	cr_expect_lt(log_p, -1);
	cr_assert_eq(events_long_period(&two, &whole, 1, true, 64, 999, &found, &log_p), 0);
	cr_expect(found == 0 && log_p == 0);
}

/* Gaps of 9, 5, 5, 9, 7 and 5 batches between large events; another event is too small to count. */
Test(period, the_most_frequent_gap)
{
	struct event list[] = {{3, 40},  {12, 40}, {15, 9},  {17, 40},
			       {22, 40}, {31, 40}, {38, 40}, {43, 40}};
	struct events events = {.count = 8, .cap_ns = 20, .list = list};
	struct event_gaps gaps;

	cr_assert_eq(events_gaps(&events, &gaps), 0);
	cr_expect(gaps.large_count == 7 && gaps.gap_count == 6 && gaps.large_ns == 280);
	cr_expect_eq(gaps.mode, 5, "%zu", gaps.mode);
	/* The shortest of 5, 7 and 9, of which there are two each. */
	list[7].position = 45;
	cr_assert_eq(events_gaps(&events, &gaps), 0);
	cr_expect_eq(gaps.mode, 5, "%zu", gaps.mode);
}

Test(period, order_and_overflow_are_survived)
{
	begin(INT32_MAX);
	for (int32_t i = 0; i < 60; i++)
		add(i % 3 - 1, INT32_MAX - i, INT64_MAX);
	find(true);
	begin(4);
	for (int32_t i = 0; i < 60; i++)
		add(0, i * 30000000, 1000 * MS); /* 1.8e9 positions */
	find(true);
	cr_assert_eq(period.event_count, 60);
}

Test(timer, needs_eight_regular_gaps)
{
	for (int32_t events = 8; events <= 11; events++) {
		struct events_query query;
		struct timer timer;
		int32_t i = 0;

		begin(4);
		/* Events are 10 s apart, with more and more batches between them. */
		for (int32_t event = 0; event < events + (events > 10) * 10; event++) {
			/* In the last round every second gap is longer by 3 s. */
			int64_t gap_ns = (9500 + (events > 10 && event % 2) * 3000) * MS;

			for (int32_t k = 0; k < 20 + 5 * event; k++) {
				struct batch_row row = BATCH_ROW_UNKNOWN;

				row.batch = i++;
				row.wait_ns = k < 2 ? 250 * MS : 0; /* two workers wait */
				row.compute_ns = gap_ns / (20 + 5 * event);
				cr_assert_eq(series_append(&series, &row), 0);
			}
		}
		query = (struct events_query){
			.series = &series, .values = series.wait_ns, .theta_ns = 10 * MS};
		events_find_timer(&query, &timer);
		cr_assert_eq(timer.gap_count, (size_t)(events > 10 ? 20 : events - 1));
		if (events < 9 || events > 10)
			cr_assert(isnan(timer.period_ns));
		else
			cr_assert_float_eq(timer.period_ns, 10e9, 1e6);
		series_done(&series);
	}
}

Test(timer, is_not_the_pace_of_batches_that_all_wait)
{
	struct events_query query;
	struct timer timer;

	for (int32_t ready = 0; ready <= 5; ready += 5) { /* batches of 20 that do not wait */
		begin(1);
		for (int32_t i = 0; i < 200; i++) {
			struct batch_row row = BATCH_ROW_UNKNOWN;

			row.batch = i;
			row.wait_ns = i % 20 < ready ? 0 : 60 * MS;
			row.compute_ns = 20 * MS;
			cr_assert_eq(series_append(&series, &row), 0);
		}
		query = (struct events_query){
			.series = &series, .values = series.wait_ns, .theta_ns = 10 * MS};
		events_find_timer(&query, &timer);
		cr_expect_eq(timer.gap_count, (size_t)(ready ? 9 : 0));
		cr_expect(isnan(timer.period_ns));
		series_done(&series);
	}
}
