/* SPDX-License-Identifier: Apache-2.0 */
/* gate_change.c - what got slower between the baselines and the runs. */
#include <math.h>

#include "analysis/gate.h"
#include "analysis/stats.h"

#define CHANGE_LEAST 0.02 /* of a mean: a smaller change explains nothing */

static void add_mean(struct stats_moments *mean, double value)
{
	if (!isnan(value))
		stats_add(mean, value);
}

static double mean_of(const struct stats_moments *mean)
{
	return mean->count ? mean->mean : NAN;
}

/* What the runs of a group have in common. */
static void summarize(const struct gate_sample *const *runs, size_t count, struct gate_sample *ret)
{
	struct stats_moments value[GATE_METRIC_MAX] = {0}, part[GATE_PART_MAX] = {0};
	struct stats_moments load = {0}, compute = {0}, wait = {0};
	size_t causes[CAUSE_MAX] = {0}, i;

	*ret = (struct gate_sample){.low99 = NAN, .error = NAN};
	for (i = 0; i < count; i++) {
		for (int k = 0; k < GATE_METRIC_MAX; k++)
			add_mean(&value[k], runs[i]->value[k]);
		for (int k = 0; k < GATE_PART_MAX; k++)
			add_mean(&part[k], runs[i]->part_ns[k]);
		add_mean(&load, runs[i]->load_ns);
		add_mean(&compute, runs[i]->compute_ns);
		add_mean(&wait, runs[i]->wait_ns);
		if (++causes[runs[i]->cause] > causes[ret->cause])
			ret->cause = runs[i]->cause;
	}
	for (int k = 0; k < GATE_METRIC_MAX; k++)
		ret->value[k] = mean_of(&value[k]);
	for (int k = 0; k < GATE_PART_MAX; k++)
		ret->part_ns[k] = mean_of(&part[k]);
	ret->load_ns = mean_of(&load);
	ret->compute_ns = mean_of(&compute);
	ret->wait_ns = mean_of(&wait);
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
		/* What was not seen before has no known time. */
		double ns = ret->now.part_ns[k] - ret->before.part_ns[k];

		if (ns > largest_ns) {
			largest_ns = ns;
			ret->part = (enum gate_part)k;
		}
	}
}
