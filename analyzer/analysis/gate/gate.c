/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/gate/gate.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/stats.h"

#define BLOCKS       10
#define NORMAL99     2.3263 /* 99 % point of the standard normal distribution */
#define DEPENDENT    3      /* a sum's error is this many times larger if waits correlate by .8 */
#define SEED         UINT64_C(0x452821e638d01377)
#define DRAWS        10000
#define CHANGE_LEAST 0.02 /* loads or steps count as changed if they change by this share */

#define GATE_AT(field)     offsetof(struct finding, field)
#define GATE_AT_PART(part) GATE_AT(account.share[ACCOUNT_##part])

const struct gate_metric_row gate_metrics[GATE_METRIC_MAX] = {
#define X(id, name, unit, ...) {name, GATE_##unit, __VA_ARGS__},
	GATE_METRICS(X)
#undef X
};

static_assert((int)GATE_STEP_AFTER - (int)GATE_STEP_BEFORE == STEP_PART_MAX - 1,
	      "every part of a step has a metric");

enum gate_metric gate_metric_find(const char *name, size_t length)
{
	int i;

	for (i = 0; i < GATE_METRIC_MAX; i++)
		if (strlen(gate_metrics[i].name) == length &&
		    strncmp(gate_metrics[i].name, name, length) == 0)
			break;
	return (enum gate_metric)i;
}

static double value_of(const struct finding *finding, const struct gate_metric_row *metric)
{
	const char *at = (const char *)finding + metric->offset;

	if (metric->offset == SIZE_MAX)
		return NAN;
	return metric->unit == GATE_COUNT ? (double)*(const size_t *)at : *(const double *)at;
}

static enum gate_unfit find_unfit(const struct finding *finding, size_t needed_count, bool live)
{
	if (live)
		return GATE_LIVE;
	if (finding->lost_share > GATE_TOLERATED_LOSS)
		return GATE_LOSS;
	if (finding->gap != STALL_GAP_NONE && finding->gap != STALL_GAP_FEW_BATCHES)
		return GATE_NO_VERDICT;
	return finding->batch_count < needed_count ? GATE_FEW : GATE_FIT;
}

/* Sums up the waits of a loader with few batches. Returns by how much the sum may be too high. */
static double short_margin_ns(const struct batch_series *series, const struct finding *finding,
			      double *ret_sum_ns)
{
	struct stats_moments moments = {0};
	struct series_place at = SERIES_BEGIN;
	const float *waits = stall_waits(series, finding);
	size_t count = 0;

	*ret_sum_ns = 0;
	for (; series_next(series, &at); count++) {
		*ret_sum_ns += series_time(waits, at.i);
		stats_add(&moments, series_time(waits, at.i));
	}
	/* A few waits may be equal by chance. One more wait of 0 keeps their error above 0. */
	stats_add(&moments, 0);
	return count < 2 ? INFINITY
			 : DEPENDENT * gate_t99(count - 1) * stats_deviation(&moments) *
				   sqrt((double)count);
}

static double short_low99(const struct batch_series *series, const struct finding *finding,
			  size_t needed_count)
{
	const struct account *all = &finding->account;
	double sum_ns, margin_ns, wait_ns;

	if (finding->gap != STALL_GAP_NONE || finding->batch_count >= needed_count ||
	    all->count < finding->own.count + needed_count)
		return NAN;
	margin_ns = short_margin_ns(series, finding, &sum_ns);
	wait_ns = all->wait_ns - fmin(sum_ns, margin_ns) - NORMAL99 * finding->others_error_ns;
	return wait_ns > 0 ? wait_ns / (wait_ns + all->step_ns) : 0;
}

void gate_take(const struct batch_series *series, const struct finding *finding,
	       const struct diagnosis *diagnosis, const struct load_times *times, double load_count,
	       bool live, struct gate_sample *ret)
{
	struct load_split split = load_split(times);
	size_t needed_count = BLOCKS * boot_block(series);
	double batches = (double)finding->batch_count;

	if (needed_count < GATE_FEWEST)
		needed_count = GATE_FEWEST;
	*ret = (struct gate_sample){
		.low99 = diagnosis->boot.low99,
		.error = diagnosis->boot.error,
		.short_low99 = short_low99(series, finding, needed_count),
		.unfit = find_unfit(finding, needed_count, live),
		.gap = finding->gap,
		.needed_count = needed_count,
		.part_ns =
			{
				[GATE_PART_OPEN] = times->open_ns / load_count,
				[GATE_PART_READ] = times->read_ns / load_count,
				[GATE_PART_DECODE] = times->decode_ns / load_count,
				[GATE_PART_COLLATE] = times->collate_ns / load_count,
				[GATE_PART_OWN] = split.cpu_ns / load_count,
				[GATE_PART_BLOCKED] = split.blocked_ns / load_count,
			},
		.load_ns = times->load_ns / load_count,
		.compute_ns = finding->compute_all_ns / batches,
		.wait_ns = finding->wait_all_ns / batches,
		.cause = diagnosis->cause,
	};
	for (int i = 0; i < GATE_METRIC_MAX; i++)
		ret->value[i] = value_of(finding, &gate_metrics[i]);
}

static struct gate_result inconclusive(enum gate_why why, double found)
{
	return (struct gate_result){.outcome = GATE_INCONCLUSIVE,
				    .why = why,
				    .found = found,
				    .edge = NAN,
				    .before = NAN,
				    .spread = NAN,
				    .odd = NAN};
}

void gate_judge(const struct gate_limit *limit, const struct gate_sample *run,
		struct gate_result *ret)
{
	const struct gate_metric_row *metric = &gate_metrics[limit->metric];
	double found = run->value[limit->metric];
	bool is_ratio = limit->metric == GATE_STALL_RATIO;
	bool is_short = is_ratio && run->unfit == GATE_FEW && !isnan(run->short_low99);
	bool fails;

	*ret = inconclusive(GATE_WHY_UNFIT, found);
	if (run->unfit == GATE_LIVE || (run->unfit != GATE_FIT && !metric->is_whole && !is_short))
		return;
	if (is_short && run->short_low99 <= limit->value && !(found <= limit->value))
		return;
	ret->why = GATE_WHY_NOT_OBSERVED;
	ret->edge = is_short ? run->short_low99 : is_ratio ? run->low99 : found;
	if (isnan(ret->edge))
		return;
	ret->why = GATE_WHY_NONE;
	fails = metric->is_least ? ret->edge < limit->value : ret->edge > limit->value;
	ret->outcome = fails ? GATE_FAILED : GATE_PASSED;
}

double gate_t99(size_t degrees)
{
	/* One-sided 99 % points of Student's t for 1 to 30 degrees of freedom. */
	static const double points[] = {
		31.8205, 6.9646, 4.5407, 3.7469, 3.3649, 3.1427, 2.9980, 2.8965, 2.8214, 2.7638,
		2.7181,  2.6810, 2.6503, 2.6245, 2.6025, 2.5835, 2.5669, 2.5524, 2.5395, 2.5280,
		2.5176,  2.5083, 2.4999, 2.4922, 2.4851, 2.4786, 2.4727, 2.4671, 2.4620, 2.4573,
	};
	const size_t count = ARRAY_COUNT(points);

	return degrees ? points[degrees < count ? degrees - 1 : count - 1] : INFINITY;
}

static double median_of(const double *values, size_t count)
{
	double sorted[GATE_MOST_BASELINES];

	memcpy(sorted, values, count * sizeof(*values));
	stats_sort(sorted, count);
	return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

static double extreme(const double *values, size_t count, double (*pick)(double a, double b))
{
	double found = values[0];

	for (size_t i = 1; i < count; i++)
		found = pick(found, values[i]);
	return found;
}

static double edge_of(const struct gate_limit *limit, const struct gate_groups *groups,
		      const struct stats_moments *before, size_t before_count)
{
	double n = (double)before_count, m = (double)groups->now_count;
	double factor = gate_t99(before_count - 1) * sqrt(1 / m + 1 / n);
	double error = extreme(groups->error, groups->now_count, fmax);

	return fmax(limit->value, factor * fmax(stats_deviation(before), error));
}

/* Finds a baseline that is so far above the others that a rise of the run is not seen. */
static void find_odd(const struct gate_limit *limit, const struct gate_groups *groups,
		     double now, struct gate_result *ret)
{
	for (size_t odd = 0; odd < groups->before_count; odd++) {
		struct stats_moments others = {0};
		double edge;

		for (size_t i = 0; i < groups->before_count; i++)
			if (i != odd)
				stats_add(&others, groups->before[i]);
		edge = edge_of(limit, groups, &others, groups->before_count - 1);
		if (groups->before[odd] - others.mean > edge && now - others.mean > edge) {
			ret->odd = groups->before[odd];
			ret->odd_edge = edge;
		}
	}
}

static void judge_bound(const struct gate_limit *limit, const struct gate_groups *groups,
			const struct stats_moments *before, struct gate_result *ret)
{
	struct stats_moments now = stats_moments_of(groups->now, groups->now_count);

	ret->found = now.mean - ret->before;
	ret->edge = edge_of(limit, groups, before, groups->before_count);
	ret->outcome = ret->found > ret->edge ? GATE_FAILED : GATE_PASSED;
	if (ret->outcome == GATE_PASSED)
		find_odd(limit, groups, now.mean, ret);
}

static void judge_separation(const struct gate_limit *limit, const struct gate_groups *groups,
			     struct gate_result *ret)
{
	double highest = extreme(groups->before, groups->before_count, fmax);
	double middle = median_of(groups->before, groups->before_count);
	size_t count =
		groups->now_count < GATE_SEPARATE_RUNS ? groups->now_count : GATE_SEPARATE_RUNS;

	ret->before = middle;
	ret->found = median_of(groups->now, count) - middle;
	ret->edge = fmax(limit->value, highest - middle);
	ret->outcome = GATE_PASSED;
	if (extreme(groups->now, count, fmin) <= highest)
		return;
	if (count < GATE_SEPARATE_RUNS) {
		ret->outcome = GATE_INCONCLUSIVE;
		ret->why = GATE_WHY_ANOTHER_RUN;
	} else if (ret->found > limit->value) {
		ret->outcome = GATE_FAILED;
	}
}

void gate_judge_increase(const struct gate_limit *limit, const struct gate_groups *groups,
			 struct gate_result *ret)
{
	struct stats_moments before = stats_moments_of(groups->before, groups->before_count);

	*ret = inconclusive(groups->now_count ? GATE_WHY_BASELINES : GATE_WHY_UNFIT, NAN);
	ret->baseline_count = groups->before_count;
	if (!groups->now_count || groups->before_count < GATE_FEWEST_BASELINES)
		return;
	ret->why = GATE_WHY_NONE;
	ret->before = before.mean;
	ret->spread = stats_deviation(&before);
	if (limit->rule == GATE_BOUND)
		judge_bound(limit, groups, &before, ret);
	else
		judge_separation(limit, groups, ret);
}

bool gate_is_worse(const struct gate_limit *limit, const struct gate_result *a,
		   const struct gate_result *b)
{
	bool less = gate_metrics[limit->metric].is_least ? a->edge < b->edge : a->edge > b->edge;

	if (a->outcome != b->outcome)
		return a->outcome > b->outcome;
	/* Each increase has an edge of its own, so distances from the edges are compared. */
	return limit->metric == GATE_STALL_INCREASE ? a->found - a->edge > b->found - b->edge
						    : less;
}

/* Returns how much more the ratio must rise until the gate fails; below 0: it fails already. */
static double find_margin(const struct gate_limit *limit, const struct gate_groups *groups)
{
	struct gate_result result;

	gate_judge_increase(limit, groups, &result);
	if (limit->rule == GATE_BOUND)
		return result.edge - result.found;
	return fmax(extreme(groups->before, groups->before_count, fmax) -
			    extreme(groups->now, groups->now_count, fmin),
		    limit->value - result.found);
}

const char *const gate_unfit_ids[GATE_UNFIT_MAX] = {
	[GATE_LIVE] = "still_recording", [GATE_NO_VERDICT] = "incomplete",
	[GATE_LOSS] = "events_lost",     [GATE_FEW] = "few_batches",
	[GATE_DOUBT] = "in_doubt",       [GATE_RANKS] = "ranks_missing",
};

const char *const gate_why_ids[GATE_WHY_MAX] = {
	[GATE_WHY_UNFIT] = "run_not_fit",       [GATE_WHY_NOT_OBSERVED] = "not_observed",
	[GATE_WHY_BASELINES] = "few_baselines", [GATE_WHY_UNLIKE] = "runs_differ",
	[GATE_WHY_ANOTHER_RUN] = "another_run",
};

const char *const gate_outcome_ids[] = {
	[GATE_PASSED] = "passed",
	[GATE_INCONCLUSIVE] = "inconclusive",
	[GATE_FAILED] = "failed",
};

static_assert(offsetof(struct gate_sample, low99) == GATE_MEANS * sizeof(double),
	      "every mean of a sample is one of `means`");

static void summarize(const struct gate_sample *const *runs, size_t count, struct gate_sample *ret)
{
	size_t causes[CAUSE_MAX] = {0}, i;

	*ret = (struct gate_sample){.low99 = NAN, .error = NAN};
	for (int k = 0; k < GATE_MEANS; k++) {
		struct stats_moments mean = {0};

		for (i = 0; i < count; i++)
			if (!isnan(runs[i]->means[k]))
				stats_add(&mean, runs[i]->means[k]);
		ret->means[k] = mean.count ? mean.mean : NAN;
	}
	for (i = 0; i < count; i++)
		if (++causes[runs[i]->cause] > causes[ret->cause])
			ret->cause = runs[i]->cause;
}

static double rise(double before, double now)
{
	return before > 0 && !isnan(now) ? now / before - 1 : 0;
}

void gate_compare(const struct gate_sample *const *before, size_t before_count,
		  const struct gate_sample *const *now, size_t now_count, struct gate_change *ret)
{
	double longer, shorter, largest_ns = 0;

	*ret = (struct gate_change){.part = GATE_PART_MAX};
	summarize(before, before_count, &ret->before);
	summarize(now, now_count, &ret->now);
	longer = rise(ret->before.load_ns, ret->now.load_ns);
	shorter = -rise(ret->before.compute_ns, ret->now.compute_ns);
	if (fmax(longer, shorter) < CHANGE_LEAST)
		ret->suspect = GATE_SUSPECT_OTHER;
	else if (shorter > longer)
		ret->suspect = GATE_SUSPECT_COMPUTE;
	if (ret->suspect != GATE_SUSPECT_LOAD)
		return;
	for (int k = 0; k < GATE_PART_MAX; k++) {
		double ns = ret->now.part_ns[k] - ret->before.part_ns[k];

		if (ns > largest_ns) {
			largest_ns = ns;
			ret->part = (enum gate_part)k;
		}
	}
}

static void shuffle(size_t *order, size_t count, size_t wanted, uint64_t *state)
{
	for (size_t i = 0; i < wanted; i++) {
		size_t other = i + (size_t)(stats_random(state) % (count - i)), kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
}

/* Calls the first runs in this order baselines, and the next ones new. Returns find_margin(). */
static double margin_of_draw(const struct gate_limit *limit, const double *ratios,
			     const double *errors, const size_t *order, size_t now_count)
{
	double before[GATE_FEWEST_BASELINES], now[GATE_SEPARATE_RUNS], error[GATE_SEPARATE_RUNS];
	const struct gate_groups groups = {before, ARRAY_COUNT(before), now, error, now_count};

	for (size_t k = 0; k < ARRAY_COUNT(before); k++)
		before[k] = ratios[order[k]];
	for (size_t k = 0; k < now_count; k++) {
		now[k] = ratios[order[ARRAY_COUNT(before) + k]];
		error[k] = errors[order[ARRAY_COUNT(before) + k]];
	}
	return find_margin(limit, &groups);
}

int gate_calibrate(const struct gate_limit *limit, const double *ratios, const double *errors,
		   size_t count, struct gate_calibration *ret)
{
	const size_t before_count = GATE_FEWEST_BASELINES;
	const size_t now_count = limit->rule == GATE_BOUND ? 1 : GATE_SEPARATE_RUNS;
	size_t *order = calloc(count, sizeof(*order)), i;
	bool *alarmed = calloc(count, sizeof(*alarmed));
	double *margins = calloc(DRAWS, sizeof(*margins));
	uint64_t state = SEED;
	int r = order && alarmed && margins ? 0 : -ENOMEM;

	*ret = (struct gate_calibration){.run_count = count, .draw_count = DRAWS};
	if (count < before_count + now_count)
		r = -EDOM;
	for (i = 0; r == 0 && i < count; i++)
		order[i] = i;
	for (i = 0; r == 0 && i < DRAWS; i++) {
		shuffle(order, count, before_count + now_count, &state);
		margins[i] = margin_of_draw(limit, ratios, errors, order, now_count);
		if (margins[i] >= 0)
			continue;
		ret->alarm_count++;
		for (size_t k = 0; k < now_count; k++)
			alarmed[order[before_count + k]] = true;
	}
	for (i = 0; r == 0 && i < count; i++)
		ret->alarm_run_count += alarmed[i];
	if (r == 0) {
		stats_sort(margins, DRAWS);
		ret->detect50 = fmax(0, margins[DRAWS / 2]);
		ret->detect95 = fmax(0, margins[DRAWS * 95 / 100]);
	}
	free(order);
	free(alarmed);
	free(margins);
	return r;
}
