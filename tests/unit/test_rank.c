/* SPDX-License-Identifier: Apache-2.0 */
/* The rank that waits for data is told from the others, whether ranks meet at every step or not. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/ranks/merge.h"
#include "analysis/ranks/rank.h"

#define MS    INT64_C(1000000)
#define RANKS 4
#define STEPS 400

/* Returns how long a rank waits for its batch, ns. */
typedef int64_t waits(int rank, int step);

struct shape {
	waits *wait;
	int meet;                /* steps after which ranks meet in a collective; 0: never */
	int step_ms;             /* how long a step computes; 0: 100 ms */
	waits *work;             /* how long a rank computes, ns; NULL: as step_ms says */
	int load_ms;             /* length of a load; 0: not known */
	int first[RANKS];        /* number of a rank's first step */
	int64_t ahead_ns[RANKS]; /* time that a rank's clock is ahead of the others' */
	bool no_clock;
	bool is_ready; /* waits are for finished batches */
};

static int64_t work_ns(const struct shape *shape, int rank, int step)
{
	return shape->work ? shape->work(rank, step) : (shape->step_ms ? shape->step_ms : 100) * MS;
}

static void add_rank(struct rank_job *job, const struct shape *shape, int rank)
{
	struct batch_series series;
	struct rank_epoch epochs[2] = {{.epoch = 0}, {.epoch = 1}};
	struct finding finding;
	int64_t now = 1000 * MS * 1000, since[RANKS] = {0};

	series_init(&series);
	series.workers = 2;
	for (int step = 0; step < STEPS; step++) {
		struct batch_row row = BATCH_ROW_UNKNOWN;
		int64_t longest = 0;

		for (int other = 0; other < RANKS; other++) {
			since[other] += shape->wait(other, step) + work_ns(shape, other, step);
			if (since[other] > longest)
				longest = since[other];
		}
		row.epoch = step >= STEPS / 2;
		row.batch = step % (STEPS / 2) + shape->first[rank];
		row.head_ready = shape->is_ready;
		row.wait_ns = shape->wait(rank, step);
		row.compute_ns = work_ns(shape, rank, step);
		if (shape->load_ms)
			row.load_ns = shape->load_ms * MS;
		if (shape->meet && (step + 1) % shape->meet == 0) {
			row.compute_ns += longest - since[rank];
			memset(since, 0, sizeof(since));
		}
		if (step % (STEPS / 2) == 0)
			epochs[row.epoch].begin_ns = now + shape->ahead_ns[rank];
		now += row.wait_ns + row.compute_ns;
		cr_assert_eq(series_append(&series, &row), 0);
	}
	stall_judge(&series, &finding);
	cr_assert_eq(rank_add(job, &series, &finding, epochs, shape->no_clock ? 0 : 2), 0);
	series_done(&series);
}

static struct rank_finding judge(const struct shape *shape, struct rank_blame *blames)
{
	struct rank_job job = {.rank_count = 0};
	struct rank_finding finding;

	for (int rank = 0; rank < RANKS; rank++)
		add_rank(&job, shape, rank);
	cr_assert_eq(rank_judge(&job, blames, &finding), 0);
	rank_done(&job);
	return finding;
}

static int64_t rank_2_is_late(int rank, int step)
{
	return rank == 2 && step % 2 ? 100 * MS : MS / 2;
}

Test(rank, the_one_that_waits_for_data_is_to_blame)
{
	const struct shape shape = {.wait = rank_2_is_late, .meet = 1};
	struct rank_blame blames[RANKS];
	struct rank_finding finding = judge(&shape, blames);

	cr_assert_eq(finding.alignment, RANK_BY_STEP);
	cr_assert_eq(finding.culprit, 2);
	cr_assert_eq(finding.verdict, STALL_VERDICT_HIGHLY);
	cr_assert_float_eq(finding.stall_ratio, 1 / 3., .01);
	cr_assert_float_eq(finding.blame_share, 1, .01);
	cr_assert(fabs(finding.lag) < .01);
	cr_assert(blames[0].wait_ns < .01 * blames[2].wait_ns);
}

static int64_t every_third(int rank, int step)
{
	return rank == 2 && step % 3 == 0 ? 40 * MS : 0;
}

Test(rank, the_late_one_is_found_however_many_gradients_are_accumulated)
{
	static const int meets[] = {1, 2, 3, 4, 8, 16};

	for (size_t i = 0; i < sizeof(meets) / sizeof(*meets); i++) {
		const struct shape shape = {.wait = every_third, .meet = meets[i], .step_ms = 50};
		struct rank_blame blames[RANKS];
		struct rank_finding finding = judge(&shape, blames);

		cr_assert_eq(finding.alignment, RANK_BY_STEP, "every %d steps", meets[i]);
		cr_assert_eq(finding.culprit, 2, "every %d steps", meets[i]);
		cr_assert_float_eq(finding.stall_ratio, 40 / 190., .01, "every %d steps: %f",
				   meets[i], finding.stall_ratio);
		cr_assert(finding.width < 4 * meets[i], "%d for %d", finding.width, meets[i]);
	}
}

static int64_t all_are_late(int rank, int step)
{
	return step % 3 == 0 ? 100 * MS + rank * MS / 10 : 0;
}

static int64_t in_turns(int rank, int step)
{
	return step % RANKS == rank ? 100 * MS : 0;
}

Test(rank, where_all_stall_there_is_no_culprit)
{
	struct rank_blame blames[RANKS];
	struct shape shape = {.wait = all_are_late, .meet = 1};
	struct rank_finding finding = judge(&shape, blames);

	/* All ranks are late, the last one most: to mend that one alone would gain nothing. */
	cr_assert_eq(finding.culprit, -1);
	cr_assert_eq(finding.verdict, STALL_VERDICT_HIGHLY);
	cr_assert(blames[3].saved_ns < .01 * blames[3].wait_ns);
	/* Each rank stalls at most a seventh of its time, but the job half of the time. */
	shape.wait = in_turns;
	finding = judge(&shape, blames);
	cr_assert_eq(finding.culprit, -1);
	cr_assert_float_eq(finding.stall_ratio, .5, .01);
	cr_assert_float_eq(finding.blame_share, .25, .01);
}

Test(rank, who_does_not_meet_is_judged_alone)
{
	const struct shape shape = {.wait = rank_2_is_late, .meet = 0};
	struct rank_blame blames[RANKS];
	struct rank_finding finding = judge(&shape, blames);

	cr_assert_eq(finding.alignment, RANK_ALONE);
	cr_assert_eq(finding.culprit, -1);
	cr_assert_float_eq(finding.lag, 1, .02);
	cr_assert_float_eq(finding.stall_ratio, 50 / (4 * 100 + 50.), .01);
}

static int64_t now_and_then(int rank, int step)
{
	return rank == 1 && step % 37 < 5 ? 300 * MS : 0;
}

Test(rank, the_clock_helps_where_ordinals_do_not)
{
	/* Rank 3 was restarted, and so counts its steps from another number. */
	struct shape shape = {.wait = now_and_then, .meet = 1, .first = {0, 0, 0, 20}};
	struct rank_blame blames[RANKS];
	struct rank_finding finding = judge(&shape, blames);
	double ratio;

	cr_assert_eq(finding.culprit, 1);
	ratio = finding.stall_ratio;
	shape.first[1] = 120;
	shape.first[2] = 70;
	finding = judge(&shape, blames);
	cr_assert_eq(finding.alignment, RANK_BY_CLOCK);
	cr_assert_eq(finding.culprit, 1);
	cr_assert_float_eq(finding.stall_ratio, ratio, .05);
	shape.no_clock = true;
	cr_assert_eq(judge(&shape, blames).alignment, RANK_ALONE);
}

Test(rank, clocks_that_differ_matter_only_where_ranks_are_aligned_by_them)
{
	static const int64_t ahead_ms[] = {100, 1000, 3000, 10000, 60000, 600000, -1000, -60000};
	struct rank_blame blames[RANKS];
	struct shape shape = {.wait = now_and_then, .meet = 1};
	const struct rank_finding level = judge(&shape, blames);

	for (size_t i = 0; i < sizeof(ahead_ms) / sizeof(*ahead_ms); i++) {
		struct rank_finding finding;

		/* The clock of the rank that waits is wrong, then that of another rank. */
		for (int rank = 1; rank <= 2; rank++) {
			shape = (struct shape){.wait = now_and_then, .meet = 1};
			shape.ahead_ns[rank] = ahead_ms[i] * MS;
			finding = judge(&shape, blames);
			cr_assert_eq(finding.alignment, RANK_BY_STEP);
			cr_assert_eq(finding.culprit, 1);
			cr_assert_eq(finding.wait_ns, level.wait_ns);
			shape.first[3] = 20;
			shape.first[1] = 120;
			shape.first[2] = 70;
			finding = judge(&shape, blames);
			cr_log_info("rank %d's clock %ld ms ahead: %s, %.3f (%.3f), culprit %d",
				    rank, (long)ahead_ms[i],
				    rank_alignment_names[finding.alignment], finding.stall_ratio,
				    level.stall_ratio, finding.culprit);
			cr_assert(finding.culprit == 1 || finding.culprit == -1);
			cr_assert(finding.alignment == RANK_ALONE ||
				  fabs(finding.stall_ratio - level.stall_ratio) < .06);
			/* Shifted ranks are told of exactly where ranks stay unaligned. */
			cr_assert_eq(finding.shifted_count > 0, finding.alignment == RANK_ALONE);
			cr_assert(finding.apart_ns > 0 || finding.alignment == RANK_ALONE ||
				  fabs(finding.stall_ratio - level.stall_ratio) < .002);
			cr_assert(!(finding.apart_ns > 0) ||
				  fabs(finding.apart_ns / (double)shape.ahead_ns[rank] - 1) < .1);
		}
	}
}

static uint64_t chance;

static int64_t at_random(int rank, int step)
{
	uint64_t x = chance + (uint64_t)(step * RANKS + rank) * UINT64_C(0x9E3779B97F4A7C15);

	x = (x ^ x >> 31) * UINT64_C(0xBF58476D1CE4E5B9);
	x ^= x >> 29;
	return (x & 7) < chance % 7 ? (int64_t)(x >> 3 & 127) * MS : 0;
}

static int64_t work_at_random(int rank, int step)
{
	return 80 * MS + at_random(rank, step + STEPS) / (1 + (int64_t)(chance % 5));
}

Test(rank, jobs_without_fault_raise_no_doubt)
{
	static const int meets[] = {0, 1, 4, 16};
	size_t by_clock = 0;

	for (chance = 1; chance <= 400; chance++) {
		struct shape shape = {
			.wait = at_random, .work = work_at_random, .meet = meets[chance % 4]};
		struct rank_blame blames[RANKS];
		struct rank_finding finding;

		for (int rank = 1; rank < RANKS; rank++)
			shape.ahead_ns[rank] =
				((int64_t)(chance * 37 + rank * 101) % 500 - 250) * MS;
		finding = judge(&shape, blames);
		cr_assert_eq(finding.shifted_count, 0, "%lu", chance);
		cr_assert_eq(finding.apart_ns, 0, "%lu", chance);
		/* One rank was restarted: the clock aligns the ranks, and is not doubted. */
		shape.first[chance % RANKS] = 20 + (int)(chance % 180);
		finding = judge(&shape, blames);
		cr_assert_eq(finding.apart_ns, 0, "%lu", chance);
		cr_assert_eq(finding.shifted_count, finding.alignment != RANK_BY_CLOCK, "%lu",
			     chance);
		cr_assert(!finding.shifted_count || finding.shifted == (int)(chance % RANKS));
		by_clock += finding.alignment == RANK_BY_CLOCK;
	}
	cr_assert(by_clock > 20, "%zu by the clock", by_clock);
}

Test(rank, who_comes_later_or_leaves_early_has_no_wrong_clock)
{
	static const struct {
		double begin_ns, end_ns, apart_ns;
	} last[] = {{0, 100, 0},   {50, 100, 0},  {0, 60, 0},    {50, 60, 0},
		    {50, 150, 50}, {-30, 60, 30}, {NAN, 150, 0}, {9, 109, 0}};

	for (size_t i = 0; i < sizeof(last) / sizeof(*last); i++) {
		struct rank_member members[] = {
			{.place = {0, 100, 0, 0}},
			{.place = {0, 100, 0, 0}},
			{.place = {last[i].begin_ns, last[i].end_ns, 0, 0}},
		};
		struct rank_job job = {.members = members, .rank_count = 3, .bin_ns = 10};
		struct rank_finding finding = {.alignment = RANK_BY_CLOCK};

		cr_assert_eq(rank_place_judge(&job, &finding), 0);
		cr_assert_eq(finding.apart_ns, last[i].apart_ns, "%zu: %f", i, finding.apart_ns);
	}
}

/* Ranks 0 and 1 wait by turns, rank 1 a little more often. */
static int64_t alike(int rank, int step)
{
	return rank < 2 && (step * 7) % 12 < 5 + 2 * rank ? 30 * MS : 0;
}

static int64_t first_of_two(int rank, int step)
{
	return rank == 0 ? 40 * MS : 0;
}

Test(rank, where_ranks_are_alike_none_is_to_blame)
{
	struct shape shape = {.wait = alike, .meet = 1};
	struct rank_blame blames[RANKS];
	struct rank_finding finding = judge(&shape, blames);

	cr_assert_eq(finding.verdict, STALL_VERDICT_MODERATELY);
	cr_assert_eq(finding.culprit, -1);
	/* Other ranks do not wait for data: their loaders catch up during the collectives. */
	shape = (struct shape){.wait = first_of_two, .meet = 1, .load_ms = 2 * 138};
	finding = judge(&shape, blames);
	cr_assert_eq(finding.culprit, -1);
	cr_assert_float_eq(blames[0].saved_ns, 0, 0, "the others' loaders are as slow");
	shape.load_ms = 2 * 50;
	shape.is_ready = true;
	cr_assert_eq(judge(&shape, blames).culprit, -1, "its batches are there");
	shape.is_ready = false;
	finding = judge(&shape, blames);
	cr_assert_eq(finding.culprit, 0, "the others could be faster");
	cr_assert_float_eq(blames[0].saved_ns / finding.time_ns, 40 / 140., .01);
}

static int64_t while_another_computes(int rank, int step)
{
	return rank == 0 ? (20 + step * 7 % 13) * MS : MS;
}

static int64_t last_computes_long(int rank, int step)
{
	return (rank == 3 ? 200 + step * 5 % 11 : 100) * MS;
}

Test(rank, whose_waits_pass_while_another_computes_is_not_to_blame)
{
	struct shape shape = {
		.wait = while_another_computes, .meet = 1, .work = last_computes_long};
	struct rank_blame blames[RANKS];
	struct rank_finding finding = judge(&shape, blames);

	cr_assert_eq(finding.culprit, -1);
	cr_assert_eq(finding.hidden, 0);
	cr_assert(!finding.is_exact);
	shape.work = NULL;
	finding = judge(&shape, blames);
	cr_assert_eq(finding.culprit, 0);
	cr_assert(finding.is_exact);
	cr_assert_eq(finding.hidden, -1);
}

static int64_t varies(int rank, int step)
{
	return (100 + (step * 31 + rank * 17) % 61) * MS;
}

Test(rank, where_compute_varies_the_loss_is_said_to_be_at_most)
{
	struct shape shape = {.wait = rank_2_is_late, .meet = 1, .work = varies};
	struct rank_blame blames[RANKS];
	struct rank_finding finding = judge(&shape, blames);
	double lost = 0, time = 0;

	for (int step = 0; step < STEPS; step++) {
		int64_t with = 0, without = 0;

		for (int rank = 0; rank < RANKS; rank++) {
			const int64_t own = varies(rank, step);

			with = fmax(with, own + rank_2_is_late(rank, step));
			without = fmax(without, own);
		}
		lost += with - without;
		time += with;
	}
	cr_assert(finding.stall_ratio >= lost / time, "%f %f", finding.stall_ratio, lost / time);
	cr_assert(!finding.is_exact);
	shape.work = NULL;
	cr_assert(judge(&shape, blames).is_exact);
}

static int64_t never(int rank, int step)
{
	return MS / 2;
}

static int64_t once(int rank, int step)
{
	return rank == 0 && step == 100 ? 20000 * MS : 0;
}

Test(rank, healthy_and_isolated)
{
	struct rank_blame blames[RANKS];
	struct shape shape = {.wait = never, .meet = 1};
	struct rank_finding finding = judge(&shape, blames);

	cr_assert_eq(finding.verdict, STALL_VERDICT_NOT);
	cr_assert_eq(finding.culprit, -1);
	cr_assert(isnan(finding.lag), "nobody starved");
	cr_assert_float_eq(finding.stall_ratio, .5 / 100.5, 1e-4);
	shape.wait = once;
	finding = judge(&shape, blames);
	cr_assert(finding.stall_ratio > .2);
	cr_assert_eq(finding.verdict, STALL_VERDICT_HIGHLY);
	cr_assert_eq(finding.culprit, -1, "one event is no bottleneck");
}

Test(rank, nothing_to_judge)
{
	struct rank_job job = {.rank_count = 0};
	struct batch_series series;
	struct rank_blame blames[1];
	struct rank_finding finding;

	series_init(&series);
	cr_assert_eq(
		rank_add(&job, &series, &(struct finding){.gap = STALL_GAP_NO_BATCHES}, NULL, 0),
		0);
	cr_assert_eq(rank_judge(&job, blames, &finding), 0);
	cr_assert_eq(finding.verdict, STALL_VERDICT_INCOMPLETE);
	cr_assert_eq(finding.culprit, -1);
	rank_done(&job);
}

/* Judges a job whose ranks are in two files: of the first `cut` ranks, and of the others. */
static struct rank_finding judge_in_parts(const struct shape *shape, int cut,
					  struct rank_blame *blames)
{
	struct rank_job parts[2] = {{.rank_count = 0}}, whole = {.rank_count = 0};
	static const int32_t numbers[RANKS] = {0, 1, 2, 3};
	struct rank_finding finding;

	whole.members = calloc(RANKS, sizeof(*whole.members));
	for (int rank = 0; rank < RANKS; rank++)
		add_rank(&parts[rank >= cut], shape, rank);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(merge_frame(&whole, &parts[i]), 0);
	merge_settle(&whole);
	/* The order of the parts does not matter. */
	for (int i = 1; i >= 0; i--)
		cr_assert_eq(merge_add(&whole, &parts[i], i ? numbers + cut : numbers), 0);
	cr_assert_eq(whole.rank_count, RANKS);
	cr_assert_eq(rank_judge(&whole, blames, &finding), 0);
	for (int i = 0; i < 2; i++)
		rank_done(&parts[i]);
	rank_done(&whole);
	return finding;
}

Test(rank, parts_of_a_job_are_judged_as_the_whole_job)
{
	const struct shape shapes[] = {
		{.wait = rank_2_is_late, .meet = 1},
		{.wait = every_third, .meet = 4, .step_ms = 50},
		{.wait = rank_2_is_late},
		{.wait = now_and_then, .meet = 1, .first = {20, 0, 70, 120}},
		{.wait = first_of_two, .meet = 1, .load_ms = 100},
	};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		for (int cut = 1; cut < RANKS; cut++) {
			struct rank_blame blames[RANKS], blames_in_parts[RANKS];
			struct rank_finding one = judge(&shapes[i], blames);
			struct rank_finding two =
				judge_in_parts(&shapes[i], cut, blames_in_parts);

			cr_expect_eq(two.alignment, one.alignment, "%zu, %d", i, cut);
			cr_expect_eq(two.culprit, one.culprit, "%zu, %d", i, cut);
			cr_expect_eq(two.width, one.width, "%zu, %d", i, cut);
			cr_expect_float_eq(two.time_ns, one.time_ns, 1e-5 * one.time_ns);
			cr_expect_float_eq(two.wait_ns, one.wait_ns, 1e-5 * one.time_ns,
					   "%zu, %d: %g, not %g", i, cut, two.wait_ns,
					   one.wait_ns);
			for (int rank = 0; rank < RANKS; rank++)
				cr_expect_float_eq(blames_in_parts[rank].wait_ns,
						   blames[rank].wait_ns, 1e-5 * one.time_ns);
		}
	}
}

/* Returns a job of one rank with steps of `step_ns`, in 16 bins of `bin_ns` from `begin_ns` on. */
static struct rank_job bins_of(int64_t bin_ns, int64_t step_ns, int64_t begin_ns)
{
	struct rank_job job = {.bin_ns = bin_ns, .step_ns = step_ns};

	job.members = calloc(1, sizeof(*job.members));
	job.rank_count = 1;
	for (int64_t at = begin_ns; at < begin_ns + 16 * bin_ns; at += step_ns) {
		const struct window_part part = {.wait_ns = (double)(at % 7),
						 .time_ns = (double)step_ns,
						 .pace_ns = (double)step_ns,
						 .count = 1};

		cr_assert_eq(window_add(&job.by_clock, (size_t)(at / bin_ns), 0, &part), 0);
	}
	cr_assert_eq(window_end(&job.by_clock, 0), 0);
	return job;
}

/* A rank of short steps has narrower bins of time than one of long steps. */
Test(rank, bins_of_time_join_though_parts_have_them_of_different_widths)
{
	struct rank_job wide = bins_of(1024, 64, 0), narrow = bins_of(256, 32, 1024);
	struct rank_job whole = {.members = calloc(2, sizeof(*whole.members))};
	double wait_ns = narrow.by_clock.wait_ns;

	cr_assert_eq(merge_frame(&whole, &wide), 0);
	cr_assert_eq(merge_frame(&whole, &narrow), 0);
	merge_settle(&whole);
	cr_assert_eq(whole.bin_ns, 1024);
	cr_assert_eq(merge_add(&whole, &wide, (int32_t[]){0}), 0);
	cr_assert_eq(merge_add(&whole, &narrow, (int32_t[]){1}), 0);
	for (int width = 0; width < WINDOW_WIDTHS - 2; width++) {
		const struct window_width *windows = &whole.by_clock.widths[width];
		double second_ns = 0;

		/* The narrow rank's 4096 ns are in the bins from 1024 ns on. */
		for (size_t i = 0; i < windows->count; i++) {
			const size_t begin = i << width;
			const bool has_both = begin < 5 && begin + ((size_t)1 << width) > 1;

			cr_expect_eq(windows->list[i].count, has_both ? 2 : 1, "%d: %zu", width, i);
			if (has_both)
				second_ns += (double)(windows->list[i].rank
							      ? windows->list[i].second_ns
							      : windows->list[i].wait_ns);
		}
		cr_expect_eq(windows->count, (size_t)16 >> width);
		cr_expect_gt(second_ns, 0);
	}
	/* The rank's own widest bins are as wide as the job's third widest: wider ones are lost. */
	cr_expect(whole.by_clock.widths[WINDOW_WIDTHS - 2].is_full);
	cr_expect_float_eq(whole.by_clock.wait_ns - wait_ns, wide.by_clock.wait_ns, 1e-6);
	rank_done(&wide);
	rank_done(&narrow);
	rank_done(&whole);
}
