/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <math.h>

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
		struct load_facts facts = LOAD_FACTS_UNKNOWN;
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
		struct load_facts facts = LOAD_FACTS_UNKNOWN;
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
