/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests verdicts by the GPU's clock. In the model a loader delivers in order; the host launches
 * each batch's work, and waits for the GPU only every so many steps. The GPU idles in a wait for
 * data as soon as its work has run out.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/cause/cause.h"
#include "analysis/gpu/gpu_use.h"

#define MS      INT64_C(1000000)
#define WORKERS 8
#define WINDOW  16
#define GPU_MS  100.0 /* time that the GPU works for a batch */
#define HOST_MS 10.0  /* time that the host needs to launch that */

static struct batch_series series;
static struct finding finding;
static struct diagnosis diagnosis;

struct model {
	int batches;
	double load_ms;
	double first_ms;          /* additional time of the host in the first step; the GPU idles */
	int sync_every;           /* steps after which the host waits for the GPU */
	int pause_every;          /* steps after which the host pauses */
	double pause_ms;          /* length of a pause, in which the GPU idles */
	int blind_from, blind_to; /* batches whose GPU times are unknown */
	bool blind;               /* all batches' GPU times are unknown */
};

/* Returns how long the GPU runs in [from, to). begin: when it began the work of each batch. */
static double busy_between(const double *begin, int count, double from, double to)
{
	double busy = 0;

	for (int i = 0; i < count; i++) {
		double start = fmax(begin[i], from), end = fmin(begin[i] + GPU_MS, to);

		busy += fmax(0, end - start);
	}
	return busy;
}

/* Runs the model; returns the batches per second of the GPU, without the first batches. */
static double run(const struct model *m)
{
	double *end = calloc((size_t)m->batches, sizeof(*end));
	double *begin = calloc((size_t)m->batches, sizeof(*begin));
	double *request = calloc((size_t)m->batches + 1, sizeof(*request));
	double *got = calloc((size_t)m->batches, sizeof(*got));
	double *idle = calloc((size_t)m->batches, sizeof(*idle));
	double worker[WORKERS] = {0}, gpu_free = 0, rate;

	for (int i = 0; i < m->batches; i++) {
		double now = request[i];

		worker[i % WORKERS] = fmax(worker[i % WORKERS], i >= WINDOW ? got[i - WINDOW] : 0) +
				      m->load_ms * (0.95 + 0.1 * ((i * 37) % 101) / 100);
		end[i] = worker[i % WORKERS];
		got[i] = fmax(now, end[i]) + 0.3;
		idle[i] = fmax(0, got[i] - fmax(now, gpu_free));
		now = got[i] + HOST_MS + (i ? 0 : m->first_ms);
		begin[i] = fmax(now, gpu_free);
		gpu_free = begin[i] + GPU_MS;
		if (i % m->sync_every == m->sync_every - 1)
			now = gpu_free;
		if (m->pause_every && i % m->pause_every == m->pause_every - 1)
			now = fmax(now, gpu_free) + m->pause_ms;
		request[i + 1] = now;
	}
	series_init(&series);
	series.workers = WORKERS;
	series.prefetch_factor = WINDOW / WORKERS;
	series.in_order = 1;
	for (int i = 0; i < m->batches; i++) {
		struct batch_row row = BATCH_ROW_UNKNOWN;

		row.batch = i;
		row.worker = i % WORKERS;
		row.load_ns = (int64_t)(m->load_ms * MS);
		row.wait_ns = (int64_t)((got[i] - request[i]) * MS);
		row.compute_ns = (int64_t)((request[i + 1] - got[i]) * MS);
		row.head_ready = end[i] <= request[i];
		if (!m->blind && !(i >= m->blind_from && i < m->blind_to)) {
			row.gpu_idle_ns = (int64_t)(idle[i] * MS);
			row.gpu_busy_ns = (int64_t)(MS * busy_between(begin, m->batches, request[i],
								      request[i + 1]));
		}
		cr_assert_eq(series_append(&series, &row), 0);
	}
	rate = (m->batches - 101) / (begin[m->batches - 1] - begin[100]) * 1e3;
	free(end);
	free(begin);
	free(request);
	free(got);
	free(idle);
	return rate;
}

static double diagnose(const struct model *m)
{
	double rate = run(m);

	stall_judge(&series, &finding);
	cr_assert_eq(cause_find(&series, &finding, NULL, &diagnosis), 0);
	return rate;
}

/* Checks that the account's parts sum up to the GPU's idle time, at most the host's wait. */
static void expect_sum(void)
{
	double parts_ns = 0;

	for (int part = 0; part < ACCOUNT_PART_MAX; part++)
		if (part != ACCOUNT_SAMPLING)
			parts_ns += finding.account.part_ns[part];
	cr_expect(isnan(finding.account.part_ns[ACCOUNT_SAMPLING]));
	if (!isnan(parts_ns))
		cr_expect_float_eq(parts_ns, finding.account.wait_ns, 1e-6 * parts_ns + 1);
	cr_expect_leq(finding.account.wait_ns + finding.wait_masked_ns,
		      finding.wait_all_ns * (1 + 1e-6) + 1);
}

Test(gpu_clock, a_host_that_waits_need_not_starve_the_gpu)
{
	struct model m = {.batches = 2000, .load_ms = 0.9 * WORKERS * GPU_MS, .sync_every = 50};

	diagnose(&m);
	cr_expect(finding.by_gpu);
	cr_expect_float_eq(finding.gpu_share, 1, 1e-9);
	cr_expect_gt(finding.wait_all_ns / (finding.wait_all_ns + finding.compute_all_ns), 0.5);
	cr_expect_lt(finding.stall_ratio, 0.02);
	cr_expect_eq(finding.verdict, STALL_VERDICT_NOT);
	cr_expect_eq(diagnosis.cause, CAUSE_NONE, "%s", cause_names[diagnosis.cause]);
	cr_expect_float_eq(finding.rho, 0.9, 0.03, "rho %g", finding.rho);
	cr_expect_lt(diagnosis.whatif.gain[WHATIF_SYNTHETIC], 0.05);
	expect_sum();
	series_done(&series);

	/* The same run without the GPU's times. */
	m.blind = true;
	diagnose(&m);
	cr_expect_not(finding.by_gpu);
	cr_expect_eq(finding.verdict, STALL_VERDICT_HIGHLY);
	cr_expect_eq(finding.wait_masked_ns, 0);
	expect_sum();
	series_done(&series);
}

Test(gpu_clock, a_starved_gpu)
{
	struct model m = {.batches = 2000, .load_ms = 1.5 * WORKERS * GPU_MS, .sync_every = 50};
	struct model more = m;
	double rate = diagnose(&m), ideal;

	cr_expect(finding.by_gpu);
	cr_expect_eq(finding.verdict, STALL_VERDICT_HIGHLY);
	cr_expect_float_eq(finding.stall_ratio, 1.0 / 3, 0.04, "%g", finding.stall_ratio);
	cr_expect_eq(diagnosis.cause, CAUSE_LOADER_CAPACITY, "%s", cause_names[diagnosis.cause]);
	cr_expect_float_eq(finding.rho, 1.5, 0.1, "rho %g", finding.rho);
	cr_expect_float_eq(diagnosis.whatif.batches_per_s[WHATIF_BASELINE], rate, 0.05 * rate,
			   "%g for %g", diagnosis.whatif.batches_per_s[WHATIF_BASELINE], rate);
	expect_sum();
	series_done(&series);
	more.load_ms /= 2;
	ideal = run(&more);
	series_done(&series);
	cr_expect_float_eq(diagnosis.whatif.batches_per_s[WHATIF_LOAD_HALF], ideal, 0.08 * ideal,
			   "%g for %g", diagnosis.whatif.batches_per_s[WHATIF_LOAD_HALF], ideal);
}

/* The first step is long, as where libraries are loaded and kernels chosen. */
Test(gpu_clock, a_long_first_step_is_no_pace_of_the_gpu)
{
	struct model m = {.batches = 150,
			  .load_ms = 2 * WORKERS * GPU_MS,
			  .first_ms = 40 * GPU_MS,
			  .sync_every = 50};

	diagnose(&m);
	cr_expect(finding.by_gpu);
	cr_expect_gt(finding.wait_masked_ns, 0.01 * finding.account.time_ns);
	cr_expect_eq(diagnosis.whatif.gap, WHATIF_GAP_NONE, "off by %g", diagnosis.whatif.off);
	cr_expect_gt(diagnosis.whatif.gain[WHATIF_MORE_WORKERS], 0.3);
	series_done(&series);
}

/* A host that waits for each step waits for data as long as the GPU does. */
Test(gpu_clock, agrees_with_the_host_where_each_step_is_waited_for)
{
	struct model m = {.batches = 1000, .load_ms = 1.3 * WORKERS * 110, .sync_every = 1};
	double by_gpu;

	diagnose(&m);
	by_gpu = finding.stall_ratio;
	cr_expect(finding.by_gpu);
	series_done(&series);
	m.blind = true;
	diagnose(&m);
	cr_expect_float_eq(by_gpu, finding.stall_ratio, 0.005, "%g, %g", by_gpu,
			   finding.stall_ratio);
	series_done(&series);
}

/* Long steps in which the host waits for the GPU are no pauses of the training. */
Test(gpu_clock, events_of_the_main_thread)
{
	struct model m = {.batches = 2000, .load_ms = 300, .sync_every = 40};

	diagnose(&m);
	cr_expect_eq(diagnosis.cause, CAUSE_NONE, "%s", cause_names[diagnosis.cause]);
	/* The GPU only idles until the host launches again after such a step. */
	cr_expect_not(diagnosis.compute_share > 0.005, "%g", diagnosis.compute_share);
	series_done(&series);
	m.pause_every = 80;
	m.pause_ms = 2000;
	diagnose(&m);
	cr_expect_eq(diagnosis.cause, CAUSE_MAIN_THREAD_PERIODIC, "%s",
		     cause_names[diagnosis.cause]);
	cr_expect_eq(diagnosis.compute.batches, 80);
	cr_expect_float_eq(diagnosis.compute_share, 2000.0 / (80 * GPU_MS + 2000), 0.03, "%g",
			   diagnosis.compute_share);
	series_done(&series);
}

Test(gpu_clock, gaps_of_the_records_are_left_out)
{
	struct model m = {.batches = 2000,
			  .load_ms = 0.9 * WORKERS * GPU_MS,
			  .sync_every = 50,
			  .blind_from = 500,
			  .blind_to = 900};
	enum stall_confidence whole;

	diagnose(&m);
	cr_expect(finding.by_gpu);
	cr_expect_eq(finding.verdict, STALL_VERDICT_NOT);
	cr_expect_eq(finding.unseen_count, 400);
	cr_expect_eq(finding.steady_count, 2000 - WORKERS - 400);
	cr_expect_float_eq(finding.gpu_share, 0.8, 1e-9);
	cr_expect_gt(finding.account.unseen_ns, 0);
	expect_sum();
	series_done(&series);
	whole = finding.confidence;
	m.blind_to = 520;
	diagnose(&m);
	cr_expect_gt(finding.confidence, whole, "a hundredth does not matter");
	series_done(&series);

	/* GPU times of less than half of the batches are too few for a verdict. */
	m.blind_from = 0;
	m.blind_to = 1100;
	diagnose(&m);
	cr_expect_not(finding.by_gpu);
	cr_expect_float_eq(finding.gpu_share, 0.45, 1e-9);
	cr_expect_eq(finding.unseen_count, 0);
	cr_expect_eq(finding.verdict, STALL_VERDICT_HIGHLY);
	expect_sum();
	series_done(&series);
}

/* Receiving finished batches is no cause if the GPU does not idle meanwhile. */
Test(gpu_clock, delivery_that_the_gpu_does_not_notice)
{
	for (int noticed = 0; noticed < 2; noticed++) {
		series_init(&series);
		series.workers = 2;
		for (int i = 0; i < 400; i++) {
			struct batch_row row = BATCH_ROW_UNKNOWN;

			row.batch = i;
			row.wait_ns = 20 * MS;
			row.compute_ns = 80 * MS;
			row.load_ns = 50 * MS;
			row.head_ready = 1;
			row.gpu_idle_ns = noticed ? 20 * MS : 0;
			row.gpu_busy_ns = noticed ? 80 * MS : 100 * MS;
			cr_assert_eq(series_append(&series, &row), 0);
		}
		stall_judge(&series, &finding);
		cr_assert_eq(cause_find(&series, &finding, NULL, &diagnosis), 0);
		cr_expect_eq(diagnosis.cause, noticed ? CAUSE_DELIVERY : CAUSE_NONE);
		cr_expect_float_eq(finding.account.share[ACCOUNT_RECEIVING], noticed ? 0.2 : 0,
				   1e-3);
		series_done(&series);
	}
}

/* A damaged file may have any times of the GPU. */
Test(gpu_clock, absurd_times)
{
	static const int64_t values[] = {0,         -1,      INT64_MIN, INT64_MAX, INT64_MIN + 1,
					 1000 * MS, 50 * MS, 1};

	srand(1);
	for (int round = 0; round < 24; round++) {
		series_init(&series);
		series.workers = round % 9 - 1;
		series.synchronous = round % 3 - 1;
		for (int i = 0; i < 120; i++) {
			struct batch_row row = BATCH_ROW_UNKNOWN;

			row.batch = i;
			row.wait_ns = 50 * MS;
			row.compute_ns = 50 * MS;
			row.load_ns = 100 * MS;
			row.worker = i % 3;
			row.gpu_idle_ns = values[rand() % 8];
			row.gpu_busy_ns = values[rand() % 8];
			cr_assert_eq(series_append(&series, &row), 0);
		}
		stall_judge(&series, &finding);
		cr_assert_eq(cause_find(&series, &finding, NULL, &diagnosis), 0);
		cr_expect(!(finding.stall_ratio < 0) && !(finding.stall_ratio > 0.5 + 1e-9), "%g",
			  finding.stall_ratio);
		cr_expect(!(finding.wait_masked_ns < -1));
		expect_sum();
		series_done(&series);
	}
}

static struct gpu_sums sums_by_hand(void)
{
	struct gpu_sums sums;

	gpu_sums_init(&sums);
	sums.batch_count = sums.seen_count = 10;
	sums.step_ns = 1000;
	sums.busy_ns = 600;
	sums.gap_ns[GPU_GAP_DATA] = 100;
	sums.gap_ns[GPU_GAP_H2D] = 150;
	sums.gap_ns[GPU_GAP_SYNC] = 50;
	sums.gap_ns[GPU_GAP_HOST] = 60;
	sums.gap_ns[GPU_GAP_OTHER] = 40;
	sums.h2d_ns = 200;
	sums.h2d_bytes = 4000;
	sums.h2d_pageable_bytes = 3000;
	return sums;
}

Test(gpu_use, by_hand)
{
	struct gpu_sums sums = sums_by_hand();
	struct gpu_use use = gpu_use_of(&sums);

	cr_expect(use.is_known);
	cr_expect_float_eq(use.busy_share, 0.6, 1e-9);
	cr_expect_float_eq(use.idle_share, 0.4, 1e-9);
	cr_expect_float_eq(use.gap_share[GPU_GAP_DATA], 0.1, 1e-9);
	cr_expect_float_eq(use.unattributed_share, 0, 1e-9);
	cr_expect_float_eq(use.h2d_bytes_per_s, 4000 / 200e-9, 1);
	cr_expect_float_eq(use.pageable_share, 0.75, 1e-9);
	cr_expect_float_eq(use.exposed_share, 0.15, 1e-9);
	cr_expect_float_eq(use.overlap_share, 0.25, 1e-9);
	sums.gap_ns[GPU_GAP_H2D] = NAN;
	use = gpu_use_of(&sums);
	cr_expect_float_eq(use.unattributed_share, 0.15, 1e-9);
	cr_expect(isnan(use.exposed_share) && isnan(use.overlap_share));

	/* Without any steps nothing is known. */
	gpu_sums_init(&sums);
	use = gpu_use_of(&sums);
	cr_expect_not(use.is_known);
	cr_expect(isnan(use.busy_share) && isnan(use.idle_share) && isnan(use.pageable_share) &&
		  isnan(use.h2d_bytes_per_s) && isnan(use.overlap_share));
	for (int gap = 0; gap < GPU_GAP_MAX; gap++)
		cr_expect_not_null(gpu_gap_ids[gap]);
	for (int sync = 0; sync < GPU_SYNC_MAX; sync++)
		cr_expect_not_null(gpu_sync_ids[sync]);
}

/* Advised only if the GPU waits for copies, and that takes enough time. */
Test(gpu_use, advice_on_copies)
{
	struct model m = {.batches = 600, .load_ms = 300, .sync_every = 1};
	struct gpu_sums sums = sums_by_hand();

	for (int c = 0; c < 4; c++) {
		struct gpu_use use;

		sums.h2d_pageable_bytes = c == 1 ? 1000 : 3000;
		sums.gap_ns[GPU_GAP_H2D] = c == 2 ? 20 : 150;
		m.load_ms = c == 3 ? 2000 : 300;
		use = gpu_use_of(&sums);
		run(&m);
		stall_judge(&series, &finding);
		cr_assert_eq(cause_find(&series, &finding, &(struct cause_input){.gpu = &use},
					&diagnosis), 0);
		series_done(&series);
		if (c == 0) {
			cr_expect_eq(diagnosis.advice.count, 1);
			cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_PAGEABLE_H2D);
			cr_expect_float_eq(diagnosis.advice.steps[0].gain, 1 / 0.85 - 1, 1e-9);
			cr_expect_not(diagnosis.advice.steps[0].is_ideal);
		} else if (c == 3) {
			cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_MORE_LOADER_CAPACITY);
			cr_expect_eq(diagnosis.advice.steps[1].id, ADVICE_PAGEABLE_H2D);
		} else if (c == 1) {
			cr_expect_eq(diagnosis.advice.count, 1);
			cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_HIDE_COPIES);
			cr_expect_float_eq(diagnosis.advice.steps[0].gain, 1 / 0.85 - 1, 1e-9);
			cr_expect(diagnosis.advice.steps[0].is_ideal);
		} else {
			cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_NONE, "%d", c);
		}
	}
}

/* Sums of steps in which the GPU idles for 40 %, nearly all of it for the part `gap`. */
static struct gpu_sums lacking(enum gpu_gap gap)
{
	struct gpu_sums sums = sums_by_hand();

	for (int i = 0; i < GPU_GAP_MAX; i++)
		sums.gap_ns[i] = i == (int)gap ? 360e3 : 10e3;
	sums.step_ns = 1e6;
	sums.busy_ns = 600e3;
	sums.kernel_count = 1000;
	sums.graph_count = 0;
	return sums;
}

Test(gpu_use, what_the_gpu_lacks)
{
	struct gpu_sums sums = lacking(GPU_GAP_HOST);
	struct gpu_use use = gpu_use_of(&sums);

	/* (360 + 10) us of idling for 1,000 kernels */
	cr_expect_eq(use.lack, GPU_LACK_LAUNCHES);
	cr_expect_float_eq(use.launch_ns, 370, 1e-9);
	cr_expect_float_eq(use.lack_share, 0.38, 1e-9);
	sums.kernel_count = 2;
	sums.graph_count = 1;
	use = gpu_use_of(&sums);
	cr_expect_eq(use.lack, GPU_LACK_HOST, "the host does other work than launching");
	cr_expect_float_eq(use.launch_ns, 370e3 / 3, 1e-6);
	sums = lacking(GPU_GAP_OTHER);
	cr_expect_eq(gpu_use_of(&sums).lack, GPU_LACK_LAUNCHES);
	sums = lacking(GPU_GAP_DATA);
	cr_expect_eq(gpu_use_of(&sums).lack, GPU_LACK_NOTHING, "it lacks data");
	/* Steps of few or long kernels wait for orders; those of many short ones for launches. */
	sums = lacking(GPU_GAP_SYNC);
	use = gpu_use_of(&sums);
	cr_expect_float_eq(use.lack_share, 0.38, 1e-9);
	cr_expect_float_eq(use.kernels, 100, 1e-9);
	cr_expect_float_eq(use.kernel_mean_ns, 600, 1e-9);
	cr_expect_eq(use.lack, GPU_LACK_LAUNCHES);
	sums.kernel_count = 990;
	cr_expect_eq(gpu_use_of(&sums).lack, GPU_LACK_ORDERS);
	sums.kernel_count = 1000;
	sums.busy_ns *= 17;
	sums.step_ns *= 17;
	for (int i = 0; i < GPU_GAP_MAX; i++)
		sums.gap_ns[i] *= 17;
	cr_expect_eq(gpu_use_of(&sums).lack, GPU_LACK_ORDERS, "kernels of 10.2 us");
	/* Any step has some idle time. */
	sums = lacking(GPU_GAP_HOST);
	sums.gap_ns[GPU_GAP_HOST] = 270e3;
	cr_expect_eq(gpu_use_of(&sums).lack, GPU_LACK_NOTHING);
	sums.gap_ns[GPU_GAP_HOST] = 281e3;
	cr_expect_eq(gpu_use_of(&sums).lack, GPU_LACK_LAUNCHES);
}

Test(gpu_use, in_which_part_of_the_step_the_gpu_lacks_it)
{
	static const enum step_part parts[GPU_PARTS] = {STEP_BEFORE, STEP_BACKWARD, STEP_BETWEEN,
							STEP_OPTIMIZER, STEP_AFTER};
	struct gpu_sums sums = lacking(GPU_GAP_HOST);
	struct gpu_use use;

	/* 380 us are lacking: the part that has more than half of them is named. */
	for (int part = 0; part < GPU_PARTS; part++) {
		for (int i = 0; i < GPU_PARTS; i++)
			sums.part_idle_ns[i] = i == part ? 200e3 : 20e3;
		use = gpu_use_of(&sums);
		cr_expect_eq(use.lack_part, parts[part]);
		cr_expect_float_eq(use.lack_part_share, 200 / 380., 1e-9);
		sums.part_idle_ns[part] = 185e3;
		cr_expect_eq(gpu_use_of(&sums).lack_part, STEP_PART_MAX);
		sums.part_idle_ns[part] = 400e3;
		cr_expect_eq(gpu_use_of(&sums).lack_part_share, 1, "it also idles for data");
	}
	sums.gap_ns[GPU_GAP_HOST] = 0;
	cr_expect_eq(gpu_use_of(&sums).lack_part, STEP_PART_MAX, "it lacks nothing");
}

/* The ends of the step's parts, as the host measured them: ns since the wait began. */
Test(gpu_use, parts_of_a_step_are_told_only_if_they_fit_together)
{
	struct dlprof_parts told = {.backward_ns = 1500, .last_ns = 4500};
	const int64_t slack = GPU_PARTS_SLACK_NS;
	int64_t edges[GPU_PARTS + 1];

	told.ns[DLPROF_PART_BEFORE] = 500;
	for (int i = DLPROF_PART_BACKWARD; i < GPU_PARTS - 1; i++)
		told.ns[i] = 3000 / (GPU_PARTS - 2);
	told.last_ns = 1500 + 3000 / (GPU_PARTS - 2) * (uint64_t)(GPU_PARTS - 2);
	cr_assert(gpu_parts_find(&told, 1000, 6000, edges));
	cr_expect_eq(edges[0], 1000);
	cr_expect_eq(edges[DLPROF_PART_BACKWARD], 1500);
	cr_expect_eq(edges[GPU_PARTS - 1], (int64_t)told.last_ns);
	cr_expect_eq(edges[GPU_PARTS], 6000);
	cr_expect_not(gpu_parts_find(&told, 1000, (int64_t)told.last_ns - 1, edges), "too short");
	told.ns[DLPROF_PART_BEFORE] += (uint64_t)slack;
	cr_expect(gpu_parts_find(&told, 1000, 6000, edges));
	told.ns[DLPROF_PART_BEFORE]++;
	cr_expect_not(gpu_parts_find(&told, 1000, 6000, edges), "a part is too long");
	told.ns[DLPROF_PART_BEFORE] = 500;
	told.last_ns += (uint64_t)slack;
	cr_expect(gpu_parts_find(&told, 1000, 6000, edges));
	told.last_ns++;
	cr_expect_not(gpu_parts_find(&told, 1000, 6000, edges), "a part is missing");
	told.backward_ns = 0;
	cr_expect_not(gpu_parts_find(&told, 1000, 6000, edges), "there is no backward pass");
}
