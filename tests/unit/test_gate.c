/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the gate on runs of a simulated loader: how often it fails where nothing changed, and how
 * often it fails where the loads became longer.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "gate_model.h"

#define BASELINES 5

static const struct gate_family FAMILIES[] = {
	{"even", .spread = .1},
	{"spread .5", .spread = .5},
	{"spread 1", .spread = 1},
	{"spread .2, memory .9", .spread = .2, .memory = .9},
	{"spread .2, memory .99", .spread = .2, .memory = .99},
	{"Pareto 1.5", .tail = 1.5},
	{"Pareto 2.5, drift", .tail = 2.5, .drift = .02},
	{"bursts", .spread = .2, .burst = true},
	{"even, drift", .spread = .1, .drift = .02},
	{"spread .5, drift", .spread = .5, .drift = .02},
};
#define FAMILY_COUNT (sizeof(FAMILIES) / sizeof(FAMILIES[0]))

static const struct gate_limit INCREASE = {
	.metric = GATE_STALL_INCREASE,
	.value = GATE_LEAST_INCREASE,
};

/* Judges new runs: five baselines, and one whose loads are `factor` times as long. */
static struct gate_result decide(const struct gate_family *family, double rho, double factor,
				 size_t count)
{
	double before[BASELINES], now, error;
	struct gate_sample sample;
	struct gate_result result;

	for (int i = 0; i < BASELINES; i++)
		before[i] = gate_model_run(family, rho, count, false).value[GATE_STALL_RATIO];
	sample = gate_model_run(family, rho * factor, count, true);
	now = sample.value[GATE_STALL_RATIO];
	error = sample.error;
	gate_judge_increase(&INCREASE, &(struct gate_groups){before, BASELINES, &now, &error, 1},
			    &result);
	return result;
}

Test(gate, a_a_pairs_hardly_ever_fail)
{
	static const double rhos[] = {.8, 1, 1.3, 2};
	int all = 0, failed = 0;

	for (size_t f = 0; f < FAMILY_COUNT; f++) {
		int alarms = 0;

		for (int i = 0; i < 240; i++)
			alarms += decide(&FAMILIES[f], rhos[i % 4], 1, 500).outcome == GATE_FAILED;
		cr_log_info("%s: %d of 240", FAMILIES[f].name, alarms);
		cr_expect_leq(alarms, 7, "%s: %d of 240", FAMILIES[f].name, alarms);
		failed += alarms;
		all += 240;
	}
	cr_assert_geq(all, 2000);
	cr_assert_leq(failed * 100, all, "%d of %d A/A decisions failed", failed, all);
}

Test(gate, a_quarter_more_load_is_caught)
{
	static const double rhos[] = {.9, 1, 1.2, 1.6, 2};
	static const struct gate_family families[] = {
		{"even", .spread = .05},
		{"spread .1", .spread = .1},
		{"spread .2", .spread = .2},
	};
	int all = 0, caught = 0;

	for (size_t f = 0; f < 3; f++)
		for (int i = 0; i < 200; i++, all++)
			caught += decide(&families[f], rhos[i % 5], 1.25, 1000).outcome ==
				  GATE_FAILED;
	cr_log_info("%d of %d", caught, all);
	cr_assert_geq(caught * 100, all * 95, "%d of %d", caught, all);
}

/* Integrates the density of Student's t: returns the probability of more than `t`. */
static double t_above(double t, double degrees)
{
	const int steps = 200000;
	double scale = exp(lgamma((degrees + 1) / 2) - lgamma(degrees / 2)) / sqrt(degrees * M_PI);
	double sum = 0;

	for (int i = 0; i < steps; i++) {
		double x = t * (i + .5) / steps;

		sum += pow(1 + x * x / degrees, -(degrees + 1) / 2);
	}
	return .5 - scale * sum * t / steps;
}

Test(gate, the_table_is_of_students_t)
{
	for (size_t degrees = 1; degrees <= 30; degrees++)
		cr_assert_float_eq(t_above(gate_t99(degrees), (double)degrees), .01, 2e-6, "%zu",
				   degrees);
	cr_assert_eq(gate_t99(1000), gate_t99(30), "more degrees are not trusted with less");
	cr_assert(isinf(gate_t99(0)));
}

/* A limit fails runs that lie at it as rarely as it says, and runs far above it nearly always.
 */
Test(gate, a_limit_fails_what_is_surely_above_it)
{
	const struct gate_family even = {"even", .spread = .1};
	struct gate_limit limit = {.metric = GATE_STALL_RATIO};
	int at = 0, above = 0;
	double sum = 0;

	for (int i = 0; i < 200; i++)
		sum += gate_model_run(&even, 1.2, 500, false).value[GATE_STALL_RATIO];
	limit.value = sum / 200;
	cr_assert(limit.value > .1 && limit.value < .25, "%g", limit.value);
	for (int i = 0; i < 400; i++) {
		struct gate_sample sample = gate_model_run(&even, 1.2, 500, true);
		struct gate_result result;

		gate_judge(&limit, &sample, &result);
		at += result.outcome == GATE_FAILED;
		sample = gate_model_run(&even, 1.3, 500, true);
		gate_judge(&limit, &sample, &result);
		above += result.outcome == GATE_FAILED;
	}
	cr_assert_leq(at, 12, "%d of 400 at the limit", at);
	cr_assert_geq(above, 380, "%d of 400 some 6 points above it", above);
}

/* All runs have the same number of slow epoch starts, which do not make the ratio less sure. */
Test(gate, a_limit_fails_epochs_that_start_slowly)
{
	const struct gate_family family = {"epochs", .spread = .1, .epochs = 10, .restart = 750};
	int at = 0, above = 0;
	double sum = 0;

	for (int i = 0; i < 200; i++)
		sum += gate_model_run(&family, 1.05, 300, false).value[GATE_STALL_RATIO];
	cr_assert(sum / 200 > .35 && sum / 200 < .55, "%g", sum / 200);
	for (int i = 0; i < 200; i++) {
		struct gate_sample sample = gate_model_run(&family, 1.05, 300, true);

		at += sample.low99 > sum / 200;
		above += sample.low99 > sum / 200 - .05;
	}
	cr_assert_leq(at, 8, "%d of 200 at the limit", at);
	cr_assert_geq(above, 160, "%d of 200 five points above it", above);
}

/* A ratio is less sure if loads stay slow for some 100 batches than if they change all the time. */
Test(gate, a_limit_knows_slow_changes)
{
	const struct gate_family family = {"slow", .spread = .2, .memory = .99};
	double sum = 0;
	int at = 0;

	for (int i = 0; i < 200; i++)
		sum += gate_model_run(&family, 1.05, 3000, false).value[GATE_STALL_RATIO];
	for (int i = 0; i < 200; i++)
		at += gate_model_run(&family, 1.05, 3000, true).low99 > sum / 200;
	cr_assert_leq(at, 20, "%d of 200 at the limit", at);
}

static struct gate_result judge(const struct gate_limit *limit, size_t before_count, size_t count,
				const double *now)
{
	static const double before[] = {.10, .12, .11, .13, .12, .11};
	static const double error[] = {.01, .01, .01, .01};
	struct gate_result result;

	gate_judge_increase(limit, &(struct gate_groups){before, before_count, now, error, count},
			    &result);
	return result;
}

Test(gate, separation_stops_at_the_first_run_that_is_not_above)
{
	struct gate_limit limit = INCREASE;

	limit.rule = GATE_SEPARATION;
	cr_assert_eq(judge(&limit, 5, 1, (double[]){.12}).outcome, GATE_PASSED);
	cr_assert_eq(judge(&limit, 5, 1, (double[]){.13}).outcome, GATE_PASSED, "not above");
	cr_assert_eq(judge(&limit, 5, 1, (double[]){.20}).why, GATE_WHY_ANOTHER_RUN);
	cr_assert_eq(judge(&limit, 5, 2, (double[]){.20, .21}).outcome, GATE_INCONCLUSIVE);
	cr_assert_eq(judge(&limit, 5, 2, (double[]){.20, .11}).outcome, GATE_PASSED);
	cr_assert_eq(judge(&limit, 5, 3, (double[]){.20, .21, .14}).outcome, GATE_FAILED);
	cr_assert_eq(judge(&limit, 5, 3, (double[]){.14, .145, .14}).outcome, GATE_PASSED,
		     "above, but not by 3 points");
	cr_assert_eq(judge(&limit, 4, 3, (double[]){.20, .21, .14}).why, GATE_WHY_BASELINES);
}

Test(gate, bound)
{
	struct gate_result result = judge(&INCREASE, 5, 1, (double[]){.161});

	/* edge: the standard deviation of a difference, .0114, times Student's 4.105 = .0468 */
	cr_assert_eq(result.outcome, GATE_PASSED);
	cr_assert_float_eq(result.before, .116, 1e-12);
	cr_assert_float_eq(result.edge, .0468, 1e-4);
	cr_assert_eq(judge(&INCREASE, 5, 1, (double[]){.164}).outcome, GATE_FAILED);
	/* With two new runs the factor is smaller. */
	cr_assert_eq(judge(&INCREASE, 5, 2, (double[]){.164, .150}).outcome, GATE_FAILED);
	cr_assert_eq(judge(&INCREASE, 4, 1, (double[]){.9}).why, GATE_WHY_BASELINES);
	cr_assert_eq(judge(&INCREASE, 5, 0, NULL).outcome, GATE_INCONCLUSIVE);
}

/*
 * One of five baselines is at 30 %. The other four have a mean of 11 % and a standard deviation of
 * 0.816 points, so more than 4.5407 x sqrt(1 + 1/4) x 0.816 = 4.15 points above them would fail.
 */
Test(gate, a_baseline_far_above_the_others_is_named_if_it_hides_a_rise)
{
	double before[] = {.10, .30, .11, .12, .11}, now = .16, error = 0;
	const struct gate_groups groups = {before, 5, &now, &error, 1};
	struct gate_result result;

	gate_judge_increase(&INCREASE, &groups, &result);
	cr_assert_eq(result.outcome, GATE_PASSED);
	cr_assert_eq(result.odd, .30);
	cr_assert_float_eq(result.odd_edge, .04145, 1e-5);
	now = .15;
	gate_judge_increase(&INCREASE, &groups, &result);
	cr_assert(isnan(result.odd), "4 points do not fail without it either");
	now = .16, before[1] = .14;
	gate_judge_increase(&INCREASE, &groups, &result);
	cr_assert(isnan(result.odd), "it would not fail itself");
}

/* If baselines happen to lie close together the error is at least the run's bootstrap error. */
Test(gate, baselines_that_are_close_by_chance)
{
	static const double before[] = {.1, .1, .1, .1, .1};
	const double now = .15, error = .02;
	struct gate_result result;

	gate_judge_increase(&INCREASE, &(struct gate_groups){before, 5, &now, &error, 1}, &result);
	cr_assert_eq(result.outcome, GATE_PASSED);
	cr_assert_float_eq(result.edge, .02 * 4.1047, 1e-4);
}

Test(gate, what_cannot_be_judged_never_passes)
{
	struct gate_sample sample = {.unfit = GATE_FIT, .low99 = 0, .short_low99 = NAN};
	struct gate_result result;

	for (int metric = 0; metric < GATE_METRIC_MAX; metric++) {
		struct gate_limit limit = {.metric = (enum gate_metric)metric, .value = 1e18};

		if (gate_metrics[limit.metric].is_least)
			limit.value = 0;
		for (int unfit = GATE_LIVE; unfit < GATE_UNFIT_MAX; unfit++) {
			bool is_whole = unfit != GATE_LIVE &&
					(metric == GATE_BATCHES || metric == GATE_STEADY_BATCHES ||
					 metric == GATE_LOST_SHARE);

			sample.unfit = (enum gate_unfit)unfit;
			gate_judge(&limit, &sample, &result);
			cr_assert_eq(result.outcome, is_whole ? GATE_PASSED : GATE_INCONCLUSIVE,
				     "%s, %s", gate_metrics[limit.metric].name,
				     gate_unfit_ids[sample.unfit]);
		}
		sample.unfit = GATE_FIT;
		sample.low99 = sample.value[metric] = NAN;
		gate_judge(&limit, &sample, &result);
		cr_assert_eq(result.why, GATE_WHY_NOT_OBSERVED);
		sample.low99 = sample.value[metric] = 0;
		gate_judge(&limit, &sample, &result);
		cr_assert_eq(result.outcome, GATE_PASSED);
	}
}

Test(gate, one_short_loader_fails_or_passes_only_what_is_clear)
{
	const struct {
		double low99, found;
		enum gate_outcome outcome;
	} cases[] = {
		{.11, .3, GATE_FAILED},
		{.09, .3, GATE_INCONCLUSIVE},
		{.02, .09, GATE_PASSED},
		{NAN, .3, GATE_INCONCLUSIVE},
		{NAN, .09, GATE_INCONCLUSIVE},
	};
	const struct gate_limit limit = {.metric = GATE_STALL_RATIO, .value = .1};
	struct gate_result result;

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct gate_sample sample = {.unfit = GATE_FEW, .short_low99 = cases[i].low99};

		sample.value[GATE_STALL_RATIO] = cases[i].found;
		gate_judge(&limit, &sample, &result);
		cr_assert_eq(result.outcome, cases[i].outcome, "case %zu", i);
		sample.unfit = GATE_LOSS;
		gate_judge(&limit, &sample, &result);
		cr_assert_eq(result.outcome, GATE_INCONCLUSIVE, "case %zu", i);
	}
}

Test(gate, what_a_run_must_have)
{
	const struct gate_family even = {"even", .spread = .1};
	struct gate_sample sample;

	/* 20 p W = 160 < 300 */
	sample = gate_model_run(&even, 1, 299, true);
	cr_assert_eq(sample.needed_count, 300);
	cr_assert_eq(sample.unfit, GATE_FEW);
	sample = gate_model_run(&even, 1, 300, true);
	cr_assert_eq(sample.unfit, GATE_FIT);
	cr_assert(sample.error > 0 && sample.error < .1);
	/* Lost records of 1200: a gate allows fewer than a verdict does. */
	sample = gate_model_run(&(struct gate_family){"lost", .spread = .1, .lost = 10}, 1, 600,
				true);
	cr_assert_eq(sample.unfit, GATE_FIT);
	sample = gate_model_run(&(struct gate_family){"lost", .spread = .1, .lost = 14}, 1, 600,
				true);
	cr_assert_eq(sample.unfit, GATE_LOSS);
	sample = gate_model_run(&(struct gate_family){"lost", .spread = .1, .lost = 200}, 1, 600,
				true);
	cr_assert_eq(sample.unfit, GATE_LOSS);
}

Test(gate, calibration_counts_its_false_alarms)
{
	static const double errors[20] = {0};
	double ratios[20];
	struct gate_calibration found;

	for (int i = 0; i < 20; i++)
		ratios[i] = .2 + .005 * gate_model_normal();
	cr_assert_eq(gate_calibrate(&INCREASE, ratios, errors, 20, &found), 0);
	cr_assert_eq(found.alarm_count, 0);
	cr_assert(found.detect50 > .02 && found.detect95 > found.detect50 && found.detect95 < .08);
	/* One of the runs is an outlier. */
	ratios[7] = .3;
	cr_assert_eq(gate_calibrate(&INCREASE, ratios, errors, 20, &found), 0);
	cr_assert_eq(found.alarm_run_count, 1);
	cr_assert_float_eq((double)found.alarm_count / (double)found.draw_count, 1. / 20, .01);
	/* Without the outlier, and with fewer runs. */
	ratios[7] = .2;
	cr_assert_eq(gate_calibrate(&INCREASE, ratios, errors, 20, &found), 0);
	cr_assert_eq(gate_calibrate(&INCREASE, ratios, errors, 5, &found), -EDOM);
	cr_assert_eq(gate_calibrate(&INCREASE, ratios, errors, 6, &found), 0);
	cr_assert_eq(gate_calibrate(&(struct gate_limit){.metric = GATE_STALL_INCREASE,
							 .rule = GATE_SEPARATION},
				    ratios, errors, 7, &found),
		     -EDOM);
}

static struct gate_sample means(double load, double compute, double decode, enum cause cause)
{
	struct gate_sample sample = {.load_ns = load, .compute_ns = compute, .cause = cause};

	for (int i = 0; i < GATE_PART_MAX; i++)
		sample.part_ns[i] = NAN;
	sample.part_ns[GATE_PART_DECODE] = decode;
	sample.part_ns[GATE_PART_OWN] = load - decode;
	return sample;
}

static struct gate_change change_to(struct gate_sample now)
{
	const struct gate_sample before[] = {means(100, 50, 40, CAUSE_NONE),
					     means(102, 50, 42, CAUSE_HEAD_OF_LINE),
					     means(98, 50, 38, CAUSE_NONE)};
	const struct gate_sample *runs[] = {&before[0], &before[1], &before[2]}, *last = &now;
	struct gate_change change;

	gate_compare(runs, 3, &last, 1, &change);
	cr_assert_float_eq(change.before.load_ns, 100, 1e-9);
	cr_assert_eq(change.before.cause, CAUSE_NONE, "the most frequent");
	return change;
}

Test(gate, what_got_slower)
{
	struct gate_change change = change_to(means(130, 50, 65, CAUSE_LOADER_CAPACITY));

	cr_assert_eq(change.suspect, GATE_SUSPECT_LOAD);
	cr_assert_eq(change.part, GATE_PART_DECODE);
	cr_assert_float_eq(change.before.part_ns[GATE_PART_DECODE], 40, 1e-9);
	cr_assert_eq(change.now.cause, CAUSE_LOADER_CAPACITY);
	cr_assert_eq(change_to(means(130, 50, 42, CAUSE_NONE)).part, GATE_PART_OWN);
	cr_assert_eq(change_to(means(105, 30, 42, CAUSE_NONE)).suspect, GATE_SUSPECT_COMPUTE);
	cr_assert_eq(change_to(means(101, 50, 40, CAUSE_NONE)).suspect, GATE_SUSPECT_OTHER);
	cr_assert_eq(change_to(means(NAN, 50, NAN, CAUSE_NONE)).suspect, GATE_SUSPECT_OTHER);
}

/* A run's finding in which each figure that a gate reads is another one. */
static struct finding finding_by_hand(void)
{
	struct finding finding = {
		.stall_ratio = .11,
		.trimmed_ratio = .12,
		.wait_p50_ns = 13,
		.wait_p99_ns = 14,
		.load_mean_ns = 15,
		.batch_count = 1600,
		.steady_count = 1700,
		.lost_share = .004,
		.compute_all_ns = 1600 * 50,
		.wait_all_ns = 1600 * 9,
	};

	for (int part = 0; part < ACCOUNT_PART_MAX; part++)
		finding.account.share[part] = .2 + part / 100.;
	finding.account.startup_ns = 16;
	return finding;
}

static const struct load_times LOAD_SUMS = {
	.load_ns = 1000, .cpu_ns = 400, .open_ns = 50, .read_ns = 150, .decode_ns = 200,
	.collate_ns = 100, .other_ns = 500, .blocked_ns = 300,
};

Test(gate, a_sample_has_means_over_its_loads_and_batches)
{
	struct finding finding = finding_by_hand();
	struct diagnosis diagnosis = {.boot = {.low99 = .08, .error = .02}, .cause = CAUSE_LOCK};
	struct batch_series series;
	struct gate_sample sample;

	series_init(&series);
	gate_take(&series, &finding, &diagnosis, &LOAD_SUMS, 10, false, &sample);
	cr_expect_eq(sample.unfit, GATE_FIT);
	cr_expect_eq(sample.cause, CAUSE_LOCK);
	cr_expect(sample.low99 == .08 && sample.error == .02 && isnan(sample.short_low99));
	cr_expect_eq(sample.load_ns, 100);
	cr_expect_eq(sample.compute_ns, 50);
	cr_expect_eq(sample.wait_ns, 9);
	cr_expect_eq(sample.part_ns[GATE_PART_OPEN], 5);
	cr_expect_eq(sample.part_ns[GATE_PART_READ], 15);
	cr_expect_eq(sample.part_ns[GATE_PART_DECODE], 20);
	cr_expect_eq(sample.part_ns[GATE_PART_COLLATE], 10);
	cr_expect_float_eq(sample.part_ns[GATE_PART_OWN], 16, 1e-9);
	cr_expect_float_eq(sample.part_ns[GATE_PART_BLOCKED], 34, 1e-9);
	gate_take(&series, &finding, &diagnosis, &LOAD_SUMS, 10, true, &sample);
	cr_expect_eq(sample.unfit, GATE_LIVE);
	finding.gap = STALL_GAP_NO_BATCHES;
	gate_take(&series, &finding, &diagnosis, &LOAD_SUMS, 10, false, &sample);
	cr_expect_eq(sample.unfit, GATE_NO_VERDICT);
	finding.gap = STALL_GAP_FEW_BATCHES;
	finding.batch_count = 20;
	gate_take(&series, &finding, &diagnosis, &LOAD_SUMS, 10, false, &sample);
	cr_expect_eq(sample.unfit, GATE_FEW);
	series_done(&series);
}

Test(gate, a_limit_is_about_the_figure_that_it_names)
{
	static const struct {
		const char *name;
		double value; /* NAN: it is taken from elsewhere */
	} metrics[] = {
		{"stall.ratio", .11},
		{"stall.ratio.increase", NAN},
		{"stall.trimmed_ratio", .12},
		{"stall.not_ready", .2 + ACCOUNT_NOT_READY / 100.},
		{"stall.receiving", .2 + ACCOUNT_RECEIVING / 100.},
		{"stall.sampling", .2 + ACCOUNT_SAMPLING / 100.},
		{"stall.epoch_start", .2 + ACCOUNT_EPOCH_START / 100.},
		{"stall.epoch_end", .2 + ACCOUNT_EPOCH_END / 100.},
		{"stall.startup", 16},
		{"stall.wait_p50", 13},
		{"stall.wait_p99", 14},
		{"workers.load_mean", 15},
		{"gpu.idle", NAN},
		{"gpu.collectives_alone_share", NAN},
		{"step.before", NAN},
		{"step.backward", NAN},
		{"step.between", NAN},
		{"step.optimizer", NAN},
		{"step.save", NAN},
		{"step.other_loops", NAN},
		{"step.after", NAN},
		{"stall.batches", 1600},
		{"stall.steady_batches", 1700},
		{"loss.share", .004},
	};
	const struct finding finding = finding_by_hand();
	const struct diagnosis diagnosis = {.cause = CAUSE_NONE};
	struct batch_series series;
	struct gate_sample sample;

	series_init(&series);
	gate_take(&series, &finding, &diagnosis, &LOAD_SUMS, 10, false, &sample);
	cr_assert_eq(ARRAY_COUNT(metrics), GATE_METRIC_MAX);
	for (size_t i = 0; i < GATE_METRIC_MAX; i++) {
		const size_t length = strlen(metrics[i].name);
		const enum gate_metric found = gate_metric_find(metrics[i].name, length);

		cr_assert_lt(found, GATE_METRIC_MAX, "%s", metrics[i].name);
		cr_expect(isnan(metrics[i].value) ? isnan(sample.value[found])
						  : sample.value[found] == metrics[i].value,
			  "%s: %g", metrics[i].name, sample.value[found]);
		cr_expect_eq(gate_metric_find(metrics[i].name, length - 1), GATE_METRIC_MAX);
	}
	/* Only what follows the name may be longer. */
	cr_expect_eq(gate_metric_find("stall.ratio <= 10%", 11), GATE_STALL_RATIO);
	cr_expect_eq(gate_metric_find("stall.ration", 12), GATE_METRIC_MAX);
	series_done(&series);
}

/* Of a run's loaders the one that is judged made 25 batches, with a wait of 100 ns for each. */
Test(gate, a_margin_is_taken_from_the_waits_of_a_short_loader)
{
	const struct diagnosis diagnosis = {.cause = CAUSE_NONE};
	struct finding finding = {
		.batch_count = 25,
		.own.count = 25,
		.account = {.count = 25 + 300, .wait_ns = 3500, .step_ns = 10000},
	};
	/* The waits and one of 0 have a standard deviation of 19.61; 2.4922 is Student's t. */
	const double margin_ns = 3 * 2.4922 * 19.6116 * 5;
	struct gate_sample sample;
	struct batch_series series;

	series_init(&series);
	series.workers = 1;
	for (int i = 0; i < 25; i++) {
		struct batch_row row = BATCH_ROW_UNKNOWN;

		row.batch = i;
		row.wait_ns = 100;
		row.compute_ns = 100;
		cr_assert_eq(series_append(&series, &row), 0);
	}
	gate_take(&series, &finding, &diagnosis, &LOAD_SUMS, 10, false, &sample);
	cr_expect_float_eq(sample.short_low99, (3500 - margin_ns) / (13500 - margin_ns), 1e-5, "%g",
			   sample.short_low99);
	finding.others_error_ns = 100;
	gate_take(&series, &finding, &diagnosis, &LOAD_SUMS, 10, false, &sample);
	cr_expect_float_eq(sample.short_low99,
			   (3500 - margin_ns - 232.63) / (13500 - margin_ns - 232.63), 1e-5);
	finding.account.wait_ns = margin_ns;
	gate_take(&series, &finding, &diagnosis, &LOAD_SUMS, 10, false, &sample);
	cr_expect_eq(sample.short_low99, 0);
	/* No more than the loader's own waits is taken: 2500 ns. */
	series.wait_ns[0] = 2400;
	for (int i = 1; i < 25; i++)
		series.wait_ns[i] = 100 / 24.f;
	finding.others_error_ns = 0;
	finding.account.wait_ns = 3500;
	gate_take(&series, &finding, &diagnosis, &LOAD_SUMS, 10, false, &sample);
	cr_expect_float_eq(sample.short_low99, 1000 / 11000., 1e-5, "%g", sample.short_low99);
	/* The loader is long enough, the whole run is too short, or there is no verdict. */
	for (int i = 0; i < 3; i++) {
		struct finding other = finding;

		if (i == 0)
			other.batch_count = 300;
		else if (i == 1)
			other.account.count--;
		else
			other.gap = STALL_GAP_FEW_BATCHES;
		gate_take(&series, &other, &diagnosis, &LOAD_SUMS, 10, false, &sample);
		cr_expect(isnan(sample.short_low99), "%d", i);
	}
	series.count = 1;
	gate_take(&series, &finding, &diagnosis, &LOAD_SUMS, 10, false, &sample);
	cr_expect_float_eq(sample.short_low99, 1100 / 11100., 1e-5, "one wait says nothing");
	series_done(&series);
}

static bool is_worse(enum gate_metric metric, struct gate_result a, struct gate_result b)
{
	const struct gate_limit limit = {.metric = metric};

	cr_expect_not(gate_is_worse(&limit, &a, &b) && gate_is_worse(&limit, &b, &a));
	return gate_is_worse(&limit, &a, &b);
}

Test(gate, of_several_runs_the_worst_is_told)
{
	struct gate_result low = {.outcome = GATE_FAILED, .edge = .2, .found = .30};
	struct gate_result high = {.outcome = GATE_FAILED, .edge = .3, .found = .35};
	struct gate_result passed = {.outcome = GATE_PASSED, .edge = .9, .found = .9};

	cr_expect(is_worse(GATE_STALL_RATIO, high, low));
	cr_expect_not(is_worse(GATE_STALL_RATIO, low, high));
	cr_expect_not(is_worse(GATE_STALL_RATIO, low, low));
	cr_expect(is_worse(GATE_BATCHES, low, high), "at least so many are wanted");
	cr_expect_not(is_worse(GATE_BATCHES, high, low));
	/* Each increase has its own edge: the one by .1 above it is worse than that by .05. */
	cr_expect(is_worse(GATE_STALL_INCREASE, low, high));
	cr_expect_not(is_worse(GATE_STALL_INCREASE, high, low));
	for (int metric = 0; metric < GATE_METRIC_MAX; metric++) {
		cr_expect(is_worse((enum gate_metric)metric, low, passed));
		cr_expect_not(is_worse((enum gate_metric)metric, passed, low));
	}
}

/* Of eight runs, half have a ratio of .2 and half one of .3. */
Test(gate, calibration_says_which_increase_would_be_found)
{
	static const double ratios[] = {.2, .3, .2, .3, .2, .3, .2, .3}, errors[8] = {0};
	struct gate_limit limit = INCREASE;
	struct gate_calibration found;

	limit.rule = GATE_SEPARATION;
	cr_assert_eq(gate_calibrate(&limit, ratios, errors, 8, &found), 0);
	/* New runs must lie above the highest baseline, which is .1 above the lowest new run. */
	cr_expect(found.detect50 > .1 - 1e-9 && found.detect50 < .13 + 1e-9, "%g", found.detect50);
	cr_expect_eq(found.alarm_count, 0);
	limit.value = .15;
	cr_assert_eq(gate_calibrate(&limit, ratios, errors, 8, &found), 0);
	cr_expect_geq(found.detect50, .15 - 1e-9);
	cr_expect_float_eq(found.detect95, .25, 1e-9, "baselines of .3, new runs of .2");
}

Test(gate, what_was_nothing_before_did_not_get_slower)
{
	const struct gate_sample before = means(0, 50, 0, CAUSE_NONE);
	const struct gate_sample now = means(10, 50, 4, CAUSE_NONE), *runs[] = {&before, &now};
	struct gate_change change;

	gate_compare(runs, 1, runs + 1, 1, &change);
	cr_expect_eq(change.suspect, GATE_SUSPECT_OTHER);
	cr_expect_eq(change.part, GATE_PART_MAX);
}
