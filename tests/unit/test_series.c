/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/account/load_facts.h"
#include "analysis/account/series.h"

Test(series, what_was_never_observed_has_no_column)
{
	struct batch_series series;
	struct batch_row row = BATCH_ROW_UNKNOWN;

	series_init(&series);
	row.wait_ns = 5;
	cr_assert_eq(series_append(&series, &row), 0);
	cr_assert_eq(series.count, 1);
	cr_assert_eq(series.wait_ns[0], 5);
	cr_assert_null(series.compute_ns);
	cr_assert_null(series.load_ns);
	cr_assert_eq(series.workers, -1);
	series_done(&series);
	cr_assert_eq(series.count, 0);
}

Test(series, a_late_column_is_unknown_before)
{
	enum { FIRST = 3000, COUNT = 5000 };
	struct batch_series series;

	series_init(&series);
	for (int i = 0; i < COUNT; i++) {
		struct batch_row row = BATCH_ROW_UNKNOWN;

		row.wait_ns = i;
		row.batch = i;
		row.load_ns = i >= FIRST ? i * 2 : UNKNOWN;
		cr_assert_eq(series_append(&series, &row), 0);
	}
	cr_assert_eq(series.count, COUNT);
	cr_assert_eq(series.run_count, 1);
	for (int i = 0; i < COUNT; i++) {
		cr_assert_eq(series.wait_ns[i], i);
		if (i < FIRST)
			cr_assert(isnan(series.load_ns[i]));
		else
			cr_assert_eq(series.load_ns[i], i * 2);
	}
	series_done(&series);
}

/* Numbers of batches are kept as they were added, in any order. */
Test(series, places_are_kept)
{
	static const int32_t epochs[] = {0, 0, 0, 1, 1, 1, 1, 3, 3},
			     batches[] = {0, 1, 5, 0, 1, 1, 0, 2147483647, -1};
	struct series_place place = SERIES_BEGIN;
	struct batch_series series;
	size_t seen = 0;

	series_init(&series);
	cr_assert_not(series_next(&series, &place));
	for (size_t i = 0; i < 9; i++) {
		struct batch_row row = BATCH_ROW_UNKNOWN;

		row.epoch = epochs[i];
		row.batch = batches[i];
		cr_assert_eq(series_append(&series, &row), 0);
	}
	while (series_next(&series, &place)) {
		cr_assert_eq(place.i, seen);
		cr_assert_eq(place.batch, batches[seen]);
		cr_assert_eq(series.runs[place.run].epoch, epochs[seen]);
		seen++;
	}
	cr_assert_eq(seen, 9);
	series_done(&series);
}

Test(series, facts_of_few_values_share_a_byte)
{
	struct batch_row row = BATCH_ROW_UNKNOWN;
	struct batch_series series;

	series_init(&series);
	for (int i = 0; i < 3; i++) {
		row.head_ready = (int8_t)(i - 1);
		row.qdepth = 2 - i * 3 / 2;
		row.worker = i == 2 ? INT32_MAX : i;
		row.load_cpu_ns = i ? 10 : UNKNOWN;
		cr_assert_eq(series_append(&series, &row), 0);
	}
	cr_assert_eq(series.state[0], SERIES_QUEUE_KNOWN | SERIES_QUEUE);
	cr_assert_eq(series.state[1], SERIES_QUEUE_KNOWN | SERIES_QUEUE | SERIES_READY_KNOWN);
	cr_assert_eq(series.state[2], SERIES_READY_KNOWN | SERIES_READY);
	cr_assert_eq(series.worker[1], 1);
	cr_assert_eq(series.worker[2], -1);
	cr_assert_eq(series.load_cpu_ns, 20);
	cr_assert_eq(series.load_cpu_count, 2);
	series_done(&series);
}

static int32_t loading_of(int workers, int epochs, int batches, int shards)
{
	struct batch_series s;
	int32_t loading;

	series_init(&s);
	s.workers = workers;
	for (int i = 0; i < epochs * batches; i++) {
		struct batch_row row = BATCH_ROW_UNKNOWN;

		row.epoch = i / batches;
		row.batch = i % batches;
		row.wait_ns = row.compute_ns = 1;
		row.worker = shards ? i % shards : -1;
		cr_assert_eq(series_append(&s, &row), 0);
	}
	loading = series_find_loading(&s);
	series_done(&s);
	return loading;
}

Test(series, says_how_many_workers_load)
{
	cr_expect_eq(loading_of(4, 2, 100, 1), 1);
	cr_expect_eq(loading_of(8, 2, 100, 2), 2);
	cr_expect_eq(loading_of(4, 2, 100, 4), 4);
	/* The loading workers are not known, or epochs are too short to tell. */
	cr_expect_eq(loading_of(4, 2, 100, 0), -1);
	cr_expect_eq(loading_of(8, 50, 5, 5), -1);
	cr_expect_eq(loading_of(0, 2, 100, 0), -1);
	cr_expect_eq(loading_of(-1, 2, 100, 1), -1);
}

/* Loads of 1 s, of which a known part works or waits, with so many threads of others that run. */
Test(series, loads_that_seem_to_do_nothing_wait_for_threads_that_run)
{
	static const struct {
		double cpu, no_core, thread, socket, runnable;
		bool are_needed;
		int32_t workers;
	} cases[] = {
		{0.03, 0.02, 0, 0, 2.1, true, 2},
		{0.03, 0.02, NAN, NAN, 1, true, 2},
		{0.03, 0.02, 0, 0, 0.4, false, 2}, /* no thread runs: another wait */
		{0.03, 0.02, 0, 0.9, 2.1, false, 2}, /* loads wait for a socket, whoever runs */
		{0.80, 0.15, 0, 0, 2.1, false, 2},
		{0.50, 0.02, 0.4, 0, 1.5, true, 2},
		{0.03, 0.02, 0, 0, 2.1, false, 0}, /* they may be the step's threads */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct load_facts facts = load_facts_unknown();
		struct batch_series series;

		series_init(&series);
		series.workers = cases[i].workers;
		series.load_cpu_ns = 10 * cases[i].cpu * 1e9;
		series.load_cpu_count = 10;
		facts.load_ns = 20e9;
		facts.no_core_ns = cases[i].no_core * 20e9;
		facts.wait_ns[LOAD_WAIT_THREAD] = cases[i].thread * 20e9;
		facts.wait_ns[LOAD_WAIT_SOCKET] = cases[i].socket * 20e9;
		facts.runnable_threads = cases[i].runnable;
		series_add_threads(&series, &facts, 1e9, 2);
		cr_expect_eq(series.worker_threads > 0, cases[i].are_needed, "%zu", i);
		series_done(&series);
	}
}

/* Two loads at a time start programs that use 0.7 cores each; 0.2 of 1.6 cores are of others. */
Test(series, programs_that_loads_start_are_no_other_programs)
{
	for (int is_known = 0; is_known < 2; is_known++) {
		struct load_facts facts = load_facts_unknown();
		struct batch_series series;

		series_init(&series);
		series.workers = 2;
		series.load_cpu_ns = 1e8;
		series.load_cpu_count = 1;
		series.other_cores = is_known ? 1.6 : NAN;
		series.share = (struct share){.cores = 2, .all = 2, .count = 2};
		series.share.neighbours[0] = (struct share_neighbour){false, 1, 0.3, 0.3};
		series.share.neighbours[1] = (struct share_neighbour){true, 1, 1.3, 2.6};
		facts.load_ns = 20e9;
		facts.children_cores = 0.7;
		series_add_threads(&series, &facts, 1e9, 2);
		cr_expect_float_eq(series.worker_cores, 0.8, 1e-9);
		cr_expect(is_known ? fabs(series.other_cores - 0.2) < 1e-9
				   : isnan(series.other_cores));
		cr_expect_float_eq(share_wanted(&series.share), 0.2, 1e-9);
		series_done(&series);
	}
}

/* Appends batches 0 to `count` - 1 of an epoch, whose times are all different. */
static void append_epoch(struct batch_series *series, int32_t epoch, int count, bool has_gpu)
{
	for (int i = 0; i < count; i++) {
		struct batch_row row = BATCH_ROW_UNKNOWN;

		row.epoch = epoch;
		row.batch = i;
		row.wait_ns = 1000 + epoch * 100 + i;
		row.compute_ns = 2000 + epoch * 100 + i;
		row.handover_ns = i;
		row.worker = i % 3;
		row.head_ready = i % 2;
		if (has_gpu)
			row.gpu_busy_ns = 500 + i;
		cr_assert_eq(series_append(series, &row), 0);
	}
}

/* Parts are how a database keeps a series: what was cut out can be joined again. */
Test(series, parts_join_to_what_they_were_cut_from)
{
	struct batch_series series, joined;
	struct series_run runs[4];
	struct series_part part;

	series_init(&series);
	append_epoch(&series, 0, 10, false);
	append_epoch(&series, 1, 7, true);
	append_epoch(&series, 4, 9, false);
	for (size_t each = 1; each <= series.count + 1; each++) {
		struct series_place a = SERIES_BEGIN, b = SERIES_BEGIN;

		series_init(&joined);
		for (size_t begin = 0; begin < series.count; begin += each) {
			const size_t rest = series.count - begin;

			series_cut(&series, begin, each < rest ? each : rest, runs, &part);
			cr_assert_eq(part.runs[0].begin, 0);
			cr_assert_eq(series_extend(&joined, &part), 0);
		}
		cr_assert_eq(joined.count, series.count);
		cr_expect_eq(joined.run_count, series.run_count, "%zu", each);
		cr_expect_null(joined.load_ns);
		while (series_next(&series, &a) && series_next(&joined, &b)) {
			cr_assert_eq(a.epoch, b.epoch, "%zu: %zu", each, a.i);
			cr_assert_eq(a.batch, b.batch, "%zu: %zu", each, a.i);
			cr_assert_eq(series.wait_ns[a.i], joined.wait_ns[a.i]);
			cr_assert_eq(series.compute_ns[a.i], joined.compute_ns[a.i]);
			cr_assert_eq(series.handover_ns[a.i], joined.handover_ns[a.i]);
			cr_assert_eq(series_time(series.gpu_busy_ns, a.i),
				     series_time(joined.gpu_busy_ns, a.i));
			cr_assert_eq(series_has(series.gpu_busy_ns, a.i),
				     series_has(joined.gpu_busy_ns, a.i));
			cr_assert_eq(series.worker[a.i], joined.worker[a.i]);
			cr_assert_eq(series.state[a.i], joined.state[a.i]);
		}
		series_done(&joined);
	}
	series_done(&series);
}

/* A part is read from a file, which may be damaged. */
Test(series, a_damaged_part_has_no_absurd_times)
{
	static const float waits[] = {-1, 10, NAN, 1e30f, INFINITY, 30};
	static const float receiving[] = {5, 20, 5, 5, 5, 20};
	static const int16_t workers[6] = {0};
	static const uint8_t states[6] = {UINT8_MAX, 0, 0, 0, 0, 0};
	const struct series_run run = {.epoch = 3, .batch = 7};
	struct series_part part = {
		.count = 6, .worker = workers, .state = states, .runs = &run, .run_count = 1};
	struct batch_series series;

	series_init(&series);
	part.times[0] = waits;     /* the order of struct batch_series */
	part.times[6] = receiving;
	cr_assert_eq(series_extend(&series, &part), 0);
	cr_assert_not_null(series.wait_ns);
	cr_assert_not_null(series.handover_ns);
	for (size_t i = 0; i < 6; i++)
		cr_expect_eq(series_has(series.wait_ns, i), i == 1 || i == 5, "%zu", i);
	cr_expect_eq(series.handover_ns[1], 10, "at most the wait");
	cr_expect_eq(series.handover_ns[5], 20);
	cr_expect_eq(series.state[0] & SERIES_STEADY, 0, "that is found anew");
	series_done(&series);
}

Test(series, bars_are_means_of_their_batches)
{
	struct batch_series series;
	struct bar *bars;
	size_t count;

	series_init(&series);
	cr_assert_eq(bars_of(&series, 4, &bars, &count), 0);
	cr_expect(count == 0 && bars == NULL);
	append_epoch(&series, 0, 10, true);
	/* At most four bars of ten batches: three batches each, and the last one is left. */
	cr_assert_eq(bars_of(&series, 4, &bars, &count), 0);
	cr_assert_eq(count, 4);
	cr_expect(bars[0].begin == 0 && bars[0].end == 3);
	cr_expect(bars[3].begin == 9 && bars[3].end == 10);
	cr_expect_eq(bars[1].wait_ns, 1004);
	cr_expect_eq(bars[1].compute_ns, 2004);
	cr_expect_eq(bars[1].busy_ns, 504);
	cr_expect_eq(bars[1].most_ns, 1005 + 2005);
	free(bars);
	cr_assert_eq(bars_of(&series, 10, &bars, &count), 0);
	cr_expect_eq(count, 10);
	free(bars);
	cr_assert_eq(bars_of(&series, 1, &bars, &count), 0);
	cr_expect(count == 1 && bars[0].end == 10 && bars[0].wait_ns == 1004.5);
	free(bars);
	series.compute_ns[4] = NAN;
	series.wait_ns[3] = series.compute_ns[3] = series.gpu_busy_ns[3] = NAN;
	cr_expect_eq(bar_of(&series, 3, 5).wait_ns, 1004, "nothing is known of batch 3");
	cr_expect_eq(bar_of(&series, 3, 5).compute_ns, 0, "the last batch of an epoch");
	cr_expect_eq(bar_of(&series, 3, 5).busy_ns, 504);
	cr_expect(isnan(bar_of(&series, 3, 4).wait_ns) && isnan(bar_of(&series, 3, 4).busy_ns));
	series_done(&series);
}

Test(series, other_programs_differ_if_they_use_a_tenth_more_of_the_cores)
{
	struct batch_series a, b;

	series_init(&a);
	series_init(&b);
	cr_expect_not(series_others_differ(&a, &b), "nothing is known");
	cr_expect_not(series_has_others(&a));
	cr_expect(isnan(series_free_cores(&a)));
	a.cores = b.cores = 8;
	cr_expect_eq(series_free_cores(&a), 8);
	a.other_cores = 7;
	b.other_cores = 0;
	cr_expect(series_others_differ(&a, &b) && series_others_differ(&b, &a));
	cr_expect(series_has_others(&a) && !series_has_others(&b));
	cr_expect_eq(series_free_cores(&a), 1);
	b.other_cores = 6.99;
	cr_expect_not(series_others_differ(&a, &b));
	a.other_cores = 9;
	cr_expect_eq(series_free_cores(&a), .05, "the run did use some");
	series_done(&a);
	series_done(&b);
}
