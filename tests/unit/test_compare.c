/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares runs of a simulated DataLoader: how often is a difference found between runs with the
 * same settings (5 % are allowed), and is a real difference found? Seeds are fixed, so that all
 * runs of this test do the same. COMPARE_VERBOSE=1 prints the table.
 */
#include <criterion/criterion.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/gate/compare.h"

#define PAIRS    500 /* pairs of runs of each kind and length */
#define WORKERS  7
#define PREFETCH 2
#define LONGEST  4000
#define MS       1e6

/* Lets malloc() keep memory, instead of giving it back to the kernel after each run. */
static void keep_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 1 << 28);
	mallopt(M_TRIM_THRESHOLD, 1 << 28);
}

TestSuite(compare, .init = keep_memory);

static uint64_t seed = 88172645463325252u;

static double uniform(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

enum family { EVEN, VARIED, WILD, AR90, AR99, BURSTS, RARE, SLOW_STEPS, TWO_EPOCHS, FAMILIES };

static const char *const NAMES[FAMILIES] = {"even",   "varied",     "wild",  "ar .90",    "ar .99",
					    "bursts", "rare loads", "steps", "two epochs"};

static void fill(enum family family, size_t count, double *load, double *compute)
{
	double state = normal();
	size_t burst = 0, i;

	for (i = 0; i < count; i++) {
		double a = family == AR99 ? .99 : family == AR90 ? .9 : .95;

		state = a * state + sqrt(1 - a * a) * normal();
		burst = burst ? burst - 1 : uniform() < 1 / 150. ? 20 : 0;
		compute[i] = 100 * MS * (1 + .05 * fmax(-5, normal()));
		load[i] = 600 * MS * exp(.1 * normal());
		if (family == VARIED || family == WILD)
			load[i] = 700 * MS * exp((family == WILD ? .9 : .5) * normal());
		else if (family == AR90 || family == AR99)
			load[i] = 700 * MS * exp(.3 * state);
		else if (family == BURSTS && burst)
			load[i] *= 4;
		else if (family == RARE && uniform() < .01)
			load[i] *= 10;
		else if (family == SLOW_STEPS)
			compute[i] *= exp(.2 * state);
	}
}

/* Simulates a run of batches in order, by the rules in replay.h. */
static void simulate(enum family family, size_t count, double factor, struct compare_side *side)
{
	static double load[LONGEST], compute[LONGEST], end[LONGEST], got[LONGEST];
	size_t epochs = family == TWO_EPOCHS ? 2 : 1, each = count / epochs, epoch, i;
	struct batch_series series;
	struct finding finding;
	double now = 0;

	series_init(&series);
	series.workers = WORKERS;
	series.prefetch_factor = PREFETCH;
	fill(family, count, load, compute);
	for (epoch = 0; epoch < epochs; epoch++) {
		double begin = now;

		for (i = 0; i < each; i++) {
			double start = i >= WORKERS ? end[i - WORKERS] : begin;
			struct batch_row row = BATCH_ROW_UNKNOWN;

			if (i >= WORKERS * PREFETCH)
				start = fmax(start, got[i - WORKERS * PREFETCH]);
			end[i] = start + factor * load[epoch * each + i];
			got[i] = fmax(now, end[i]) + .3 * MS;
			row.epoch = (int32_t)epoch;
			row.batch = (int32_t)i;
			row.head_ready = end[i] <= now;
			row.wait_ns = (int64_t)(got[i] - now);
			row.compute_ns = (int64_t)compute[epoch * each + i];
			now = got[i] + compute[epoch * each + i];
			cr_assert_eq(series_append(&series, &row), 0);
		}
	}
	stall_judge(&series, &finding);
	*side = (struct compare_side){.block = 0};
	cr_assert_eq(compare_add_series(side, &series, &finding), 0);
	series_done(&series);
}

/* Counts the pairs whose result is a difference, and those that differ in each row. */
static void count_pairs(enum family family, size_t count, double factor, size_t pairs,
			size_t *ret_faster, size_t *ret_slower, size_t ret_rows[COMPARE_ROWS])
{
	struct compare_side a, b;
	struct comparison c;

	*ret_faster = *ret_slower = 0;
	for (int row = 0; row < COMPARE_ROWS; row++)
		ret_rows[row] = 0;
	for (size_t i = 0; i < pairs; i++) {
		simulate(family, count, 1, &a);
		simulate(family, count, factor, &b);
		compare_runs(&a, &b, &c);
		cr_assert(c.low > 0 && c.high > c.low);
		*ret_faster += c.result == COMPARE_FASTER;
		*ret_slower += c.result == COMPARE_SLOWER;
		for (int row = 0; row < COMPARE_ROWS; row++)
			ret_rows[row] += c.rows[row].differs;
		compare_side_done(&a);
		compare_side_done(&b);
	}
}

static void check_equal_runs(size_t count)
{
	size_t faster, slower, rows[COMPARE_ROWS];

	for (int family = 0; family < FAMILIES; family++) {
		/* AR99 is slow or fast for some 100 batches: 500 batches are too few for a mean. */
		if (family == AR99 && count < 1000)
			continue;
		count_pairs((enum family)family, count, 1, PAIRS, &faster, &slower, rows);
		if (getenv("COMPARE_VERBOSE"))
			fprintf(stderr,
				"A/A %5zu %-10s step %4.1f %%  wait %4.1f %%  stall %4.1f %%\n",
				count, NAMES[family], 100. * rows[COMPARE_STEP] / PAIRS,
				100. * rows[COMPARE_WAIT] / PAIRS,
				100. * rows[COMPARE_STALL] / PAIRS);
		for (int row = 0; row < COMPARE_ROWS; row++)
			cr_expect_leq(rows[row], PAIRS / 20, "%s, %zu batches: %s differs in %zu",
				      NAMES[family], count, compare_row_names[row], rows[row]);
	}
}

Test(compare, equal_runs_do_not_differ)
{
	check_equal_runs(500);
	check_equal_runs(1000);
	if (getenv("COMPARE_VERBOSE"))
		check_equal_runs(4000);
}

Test(compare, a_load_of_a_quarter_more_is_found)
{
	/* least: percent of the pairs. With 7 workers loads are the limit, or nearly so. */
	static const struct {
		enum family family;
		size_t count, least;
	} cases[] = {{EVEN, 500, 75},  {EVEN, 1000, 95}, {VARIED, 1000, 70},    {VARIED, 4000, 95},
		     {WILD, 4000, 70}, {AR90, 4000, 95}, {TWO_EPOCHS, 1000, 95}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t faster, slower, rows[COMPARE_ROWS];

		count_pairs(cases[i].family, cases[i].count, 1.25, 100, &faster, &slower, rows);
		if (getenv("COMPARE_VERBOSE"))
			fprintf(stderr, "+25 %% %5zu %-10s slower %zu %% stall %zu %%\n",
				cases[i].count, NAMES[cases[i].family], slower,
				rows[COMPARE_STALL]);
		cr_expect_geq(slower, cases[i].least, "%s, %zu batches: found in %zu %%",
			      NAMES[cases[i].family], cases[i].count, slower);
		cr_expect_eq(faster, 0);
	}
}

Test(compare, numbers)
{
	struct compare_side a = {.block = 1}, b = {.block = 1};
	const double parts[STEP_TOLD_MAX] = {NAN, NAN, NAN, NAN, NAN};
	struct comparison c;

	for (int i = 0; i < 1000; i++) {
		struct load_times load = {.load_ns = 80,
					  .open_ns = 10 + i % 2,
					  .cpu_ns = NAN,
					  .read_ns = NAN,
					  .decode_ns = 20,
					  .collate_ns = NAN,
					  .other_ns = 50,
					  .blocked_ns = NAN};

		track_add(&a.tracks[COMPARE_STEP], 200 + i % 4, 1);
		track_add(&b.tracks[COMPARE_STEP], 100 + i % 4, 1);
		cr_assert_eq(compare_add_times(&a, &load, 5, parts), 0);
		load.decode_ns = 30;
		cr_assert_eq(compare_add_times(&b, &load, NAN, parts), 0);
	}
	compare_runs(&a, &b, &c);
	cr_assert_eq(c.result, COMPARE_FASTER);
	cr_assert_float_eq(c.speedup, 201.5 / 101.5, 1e-9);
	cr_assert(c.low < c.speedup && c.high > c.speedup && c.high - c.low < .02);
	cr_assert_float_eq(c.rows[COMPARE_STEP].change, -100, 1e-9);
	cr_assert_float_eq(c.rows[COMPARE_DECODE].change, 10, 1e-9);
	cr_assert(c.rows[COMPARE_DECODE].differs, "without variation, and 2 %% of the load");
	cr_assert(!c.rows[COMPARE_OPEN].differs);
	cr_assert(isnan(c.rows[COMPARE_READ].a) && !c.rows[COMPARE_READ].differs);
	cr_assert_float_eq(c.rows[COMPARE_TRANSFER].a, 5, 1e-9);
	cr_assert(isnan(c.rows[COMPARE_TRANSFER].b) && !c.rows[COMPARE_TRANSFER].differs);
	compare_side_done(&a);
	compare_side_done(&b);
}

Test(compare, too_few_batches_say_nothing)
{
	struct compare_side a = {.block = 4}, b = {.block = 4};
	struct comparison c;

	compare_runs(&a, &b, &c);
	cr_assert_eq(c.result, COMPARE_CANNOT_SAY);
	for (int i = 0; i < TRACK_BLOCKS - 1; i++) {
		track_add(&a.tracks[COMPARE_STEP], 1, 1);
		track_add(&b.tracks[COMPARE_STEP], 100, 1);
	}
	compare_runs(&a, &b, &c);
	cr_assert_eq(c.result, COMPARE_CANNOT_SAY);
	cr_assert(!c.rows[COMPARE_STEP].differs);
	compare_side_done(&a);
	compare_side_done(&b);
}

/* Runs between which there may be a large difference are not called equal. */
Test(compare, two_short_runs_cannot_say)
{
	struct compare_side a, b;
	struct comparison c;
	size_t same = 0, open = 0;

	for (size_t i = 0; i < PAIRS; i++) {
		simulate(WILD, 60, 1, &a);
		simulate(WILD, 60, 1, &b);
		compare_runs(&a, &b, &c);
		same += c.result == COMPARE_SAME;
		open += c.result == COMPARE_CANNOT_SAY;
		cr_expect(c.result != COMPARE_SAME || (c.low > .79 && c.high < 1.26));
		compare_side_done(&a);
		compare_side_done(&b);
	}
	if (getenv("COMPARE_VERBOSE"))
		fprintf(stderr, "60 wild batches: no difference %zu, cannot say %zu of %d\n", same,
			open, PAIRS);
	cr_expect_geq(open, PAIRS * 9 / 10, "%zu", open);
}

Test(track, cells_grow_with_the_run)
{
	struct track track = {0};
	struct estimate estimate;

	for (int i = 0; i < 100003; i++)
		cr_assert_eq(track_add(&track, i, 1), 0);
	estimate = track_estimate(&track, 1);
	cr_assert_leq(track.count, TRACK_CELLS);
	cr_assert_float_eq(estimate.value, 100002 / 2., 1e-6);
	cr_assert(estimate.variance > 0);
	track_done(&track);
	cr_assert(isnan(track_estimate(&track, 1).value));
}

/* Every second batch takes long, which two batches together do not show. */
Test(track, blocks_have_at_least_so_many_batches)
{
	struct track track = {0};

	for (int i = 0; i < 1000; i++)
		cr_assert_eq(track_add(&track, i % 2, 1), 0);
	cr_expect_float_eq(track_estimate(&track, 1).value, 0.5, 1e-12);
	cr_expect_gt(track_estimate(&track, 1).variance, 1e-6);
	for (size_t least = 2; least <= 64; least *= 2)
		cr_expect_float_eq(track_estimate(&track, least).variance, 0, 1e-12, "%zu", least);
	/* As many blocks are wanted as a variance needs: then they are shorter. */
	cr_expect_float_eq(track_estimate(&track, 5000).freedom, TRACK_BLOCKS - 1, 1e-9);
	track_done(&track);
}

Test(track, quantiles_of_t)
{
	cr_assert_float_eq(track_t975(7), 2.3646, 2e-3);
	cr_assert_float_eq(track_t975(14), 2.1448, 1e-3);
	cr_assert_float_eq(track_t975(1e9), 1.95996, 1e-4);
}

/* Compares two runs by their workers and the length of their loads: do workers share a limit? */
static bool is_shared(double workers_a, double workers_b, double load_a, double load_b)
{
	struct comparison c = {.rows[COMPARE_LOAD] = {.a = load_a, .b = load_b, .differs = true}};

	return compare_is_shared(&c, workers_a, workers_b);
}

Test(compare, workers_that_share_what_they_wait_for_load_as_much_longer)
{
	cr_expect(is_shared(4, 8, 10, 20) && is_shared(8, 4, 20, 10));
	cr_expect(is_shared(4, 8, 10, 17));
	cr_expect_not(is_shared(4, 8, 10, 16), "less than in proportion");
	cr_expect_not(is_shared(4, 8, 20, 10) || is_shared(8, 4, 10, 20), "the other way round");
	cr_expect_not(is_shared(4, 4, 10, 20), "as many workers");
	cr_expect_not(is_shared(0, 4, 10, 40), "no workers");
	cr_expect_not(is_shared(4, 8, 10, NAN) || is_shared(4, 8, NAN, 20), "not observed");
}
