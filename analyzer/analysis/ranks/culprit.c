/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranks/culprit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/statistics/stats.h"

#define TRIM_SHARE    0.005
/*
 * Suspects are culprits on two conditions. They have more than this share of all ranks' starved
 * waits. If they starved no longer, the job would save more than this share of their waits.
 */
#define BLAME         0.5
#define BLAME_OF_NEXT 3    /* a culprit starves at least this many times as long as the next rank */
#define GAIN_ERROR    0.04 /* a predicted saving may be wrong by this share of the job's time */
/* ranks that starve at least this share as long as the worst rank are suspects, too */
#define EQUALLY_BAD   0.5
#define SLOPE_ERROR   0.1  /* the job's loss is exact if the slope is 1 +- this */
/* waits are hidden if a second of waiting lengthens a step by less than this many seconds */
#define LEAST_SLOPE   0.5
#define SURE_ERRORS   2    /* by how many standard errors the slope must be below LEAST_SLOPE */
/* a loader sets the pace if its time for a batch is at least this share of a step */
#define NEARLY_BEHIND 0.8
/* a loader never catches up if its time for a batch is at least this share of a step */
#define ALWAYS_BEHIND 0.9

static int find_largest(const struct window_width *width, double *ret_largest_ns)
{
	float *waits = malloc((width->count + 1) * sizeof(*waits));
	struct stats_column column = {.values = waits};
	size_t i;

	*ret_largest_ns = 0;
	if (!waits)
		return -ENOMEM;
	for (i = 0; i < width->count; i++)
		if (width->list[i].count > 1 && width->list[i].wait_ns > 0)
			waits[column.count++] = width->list[i].wait_ns;
	*ret_largest_ns =
		stats_sum_largest(&column, (size_t)ceil(TRIM_SHARE * (double)column.count));
	free(waits);
	return 0;
}

static void lay_blame(const struct window_width *width, struct rank_blame *blames)
{
	for (size_t i = 0; i < width->count; i++) {
		const struct window *window = &width->list[i];
		struct rank_blame *blame = &blames[window->rank];

		if (window->count < 2 || !(window->wait_ns > 0))
			continue;
		blame->wait_ns += (double)window->wait_ns;
		if (window->is_starved) {
			blame->starved_ns += (double)window->wait_ns;
			blame->saved_ns += (double)window->wait_ns - (double)window->second_ns;
		}
	}
}

static bool is_of(const struct rank_job *job, const struct rank_group *group, size_t rank)
{
	return group->sums.rank_count == job->rank_count ||
	       &job->groups[job->members[rank].group] == group;
}

static double step_ns(const struct rank_group *group)
{
	return group->sums.time_ns / (double)group->sums.batch_count;
}

/* Returns the most that a repair saves, as other ranks' loaders need `others_ns` for each batch. */
static double most_saved(const struct rank_group *group, double own_ns, double others_ns,
			 double time_ns)
{
	const double now_ns = own_ns >= NEARLY_BEHIND * step_ns(group) ? own_ns : step_ns(group);

	return fmax(time_ns * (1 - others_ns / now_ns), 0);
}

static void limit_saved(const struct rank_job *job, const struct rank_group *group,
			struct rank_blame *blames, double time_ns)
{
	double slowest_ns = 0, second_ns = 0, period_ns;
	size_t slowest = 0, i;

	for (i = 0; i < job->rank_count; i++) {
		period_ns = is_of(job, group, i) ? (double)job->members[i].period_ns : 0;
		if (period_ns > slowest_ns) {
			second_ns = slowest_ns;
			slowest_ns = period_ns;
			slowest = i;
		} else {
			second_ns = fmax(second_ns, period_ns);
		}
	}
	for (i = 0; i < job->rank_count; i++)
		blames[i].saved_ns =
			fmin(blames[i].saved_ns,
			     most_saved(group, (double)job->members[i].period_ns,
					i == slowest ? second_ns : slowest_ns, time_ns));
}

/* By how many ns each ns of wait lengthens wait + step, and the standard error of this slope. */
struct slope {
	double value, error;
};

/* Fits the slope to all windows, or (given `blames`) to those in which a culprit waits longest. */
static struct slope find_slope(const struct window_width *width, const struct rank_blame *blames)
{
	struct stats_pairs p = {0};
	double slope;

	for (size_t i = 0; i < width->count; i++) {
		const struct window *window = &width->list[i];

		if (window->count > 1 && (!blames || blames[window->rank].is_culprit))
			stats_add_pair(&p, (double)window->wait_ns, (double)window->pace_ns);
	}
	if (p.count < RANK_WINDOWS || !(p.xx > 0))
		return (struct slope){NAN, NAN};
	slope = p.xy / p.xx;
	return (struct slope){slope, sqrt(fmax(p.yy - slope * p.xy, 0) / (p.count - 2) / p.xx)};
}

static bool is_hidden(const struct rank_job *job, const struct rank_group *group,
		      const struct window_width *width, const struct rank_blame *blames)
{
	const struct slope slope = find_slope(width, blames);
	double period_ns = 0;

	for (size_t i = 0; i < job->rank_count; i++)
		if (blames[i].is_culprit)
			period_ns = fmax(period_ns, (double)job->members[i].period_ns);
	return period_ns < ALWAYS_BEHIND * step_ns(group) &&
	       slope.value + SURE_ERRORS * slope.error < LEAST_SLOPE;
}

struct suspects {
	size_t worst, count;
	double starved_ns; /* starved waits of suspects, in windows where they waited longest */
	double next_ns;    /* starved waits of the worst rank that is no suspect */
	double all_ns;
	double saved_ns;
};

static struct suspects sum_up(const struct rank_job *job, const struct rank_group *group,
			      const struct rank_blame *blames)
{
	struct suspects suspects = {.count = 0};

	for (size_t i = 0; i < job->rank_count; i++) {
		const struct rank_blame *blame = &blames[i];

		if (!is_of(job, group, i))
			continue;
		suspects.all_ns += blame->starved_ns;
		if (!blame->is_culprit) {
			suspects.next_ns = fmax(suspects.next_ns, blame->starved_ns);
			continue;
		}
		if (!suspects.count++ || blame->starved_ns > blames[suspects.worst].starved_ns)
			suspects.worst = i;
		suspects.starved_ns += blame->starved_ns;
		suspects.saved_ns += blame->saved_ns;
	}
	return suspects;
}

static struct suspects suspect_one(const struct rank_job *job, const struct rank_group *group,
				   struct rank_blame *blames)
{
	size_t worst = SIZE_MAX;

	for (size_t i = 0; i < job->rank_count; i++)
		if (is_of(job, group, i) &&
		    (worst == SIZE_MAX || blames[i].starved_ns > blames[worst].starved_ns))
			worst = i;
	blames[worst].is_culprit = true;
	return sum_up(job, group, blames);
}

/* Suspects several ranks. Their waits hide each other, so savings are not summed over the ranks. */
static struct suspects suspect_several(const struct rank_job *job, const struct rank_group *group,
				       struct rank_blame *blames, double time_ns)
{
	double most_ns = 0, least_ns = INFINITY, next_ns = 0, rest_ns = 0, wait_ns = 0;
	double own_ns = 0, period_ns = 0;
	struct suspects suspects;

	for (size_t i = 0; i < job->rank_count; i++)
		if (is_of(job, group, i))
			most_ns = fmax(most_ns, (double)job->members[i].starved_ns);
	for (size_t i = 0; i < job->rank_count; i++) {
		const struct rank_member *member = &job->members[i];
		const double starved_ns = (double)member->starved_ns;

		if (!is_of(job, group, i))
			continue;
		blames[i].is_culprit = starved_ns >= EQUALLY_BAD * most_ns;
		if (blames[i].is_culprit) {
			least_ns = fmin(least_ns, starved_ns);
			own_ns = fmax(own_ns, (double)member->period_ns);
			continue;
		}
		next_ns = fmax(next_ns, starved_ns);
		rest_ns += starved_ns;
		wait_ns = fmax(wait_ns, (double)member->wait_ns - starved_ns);
		period_ns = fmax(period_ns, (double)member->period_ns);
	}
	suspects = sum_up(job, group, blames);
	suspects.saved_ns = fmin(suspects.starved_ns - rest_ns - wait_ns,
				 most_saved(group, own_ns, period_ns, time_ns));
	if (suspects.count < 2 || suspects.count > group->sums.rank_count / 2 ||
	    least_ns < BLAME_OF_NEXT * next_ns)
		suspects.saved_ns = 0;
	return suspects;
}

/* Sets the range of the gain: other ranks' waits may vanish together with the culprits' or not. */
static void find_gain(const struct rank_job *job, const struct rank_group *group,
		      const struct rank_blame *blames, struct rank_finding *ret)
{
	const double error_ns = GAIN_ERROR * ret->time_ns;
	double wait_ns = 0, least_ns, most_ns;

	for (size_t i = 0; i < job->rank_count; i++)
		if (is_of(job, group, i) && !blames[i].is_culprit)
			wait_ns = fmax(wait_ns, (double)job->members[i].wait_ns);
	least_ns = fmax(ret->saved_ns - 2 * wait_ns - error_ns, 0);
	most_ns = fmin(ret->saved_ns + wait_ns + error_ns, fmax(ret->wait_ns, ret->saved_ns));
	ret->gain_least = ret->time_ns / (ret->time_ns - least_ns);
	ret->gain_most = ret->time_ns / (ret->time_ns - most_ns);
}

static bool are_to_blame(const struct suspects *suspects, double time_ns)
{
	return suspects->starved_ns > BLAME * suspects->all_ns &&
	       suspects->starved_ns >= BLAME_OF_NEXT * suspects->next_ns &&
	       suspects->saved_ns >= STALL_MODERATE * time_ns &&
	       suspects->saved_ns > BLAME * suspects->starved_ns;
}

static void acquit(const struct rank_job *job, const struct rank_group *group,
		   struct rank_blame *blames)
{
	for (size_t i = 0; i < job->rank_count; i++)
		if (is_of(job, group, i))
			blames[i].is_culprit = false;
}

int culprit_find(const struct rank_job *job, const struct rank_group *group,
		 const struct window_width *width, struct rank_blame *blames,
		 struct rank_finding *ret)
{
	const bool by_step = ret->alignment == RANK_BY_STEP;
	const struct slope slope = find_slope(width, NULL);
	struct suspects suspects;
	double largest_ns;

	if (find_largest(width, &largest_ns) < 0)
		return -ENOMEM;
	lay_blame(width, blames);
	limit_saved(job, group, blames, ret->time_ns);
	ret->trimmed_ratio = (ret->wait_ns - largest_ns) / ret->time_ns;
	ret->is_exact =
		by_step && slope.error <= SLOPE_ERROR && fabs(slope.value - 1) <= SLOPE_ERROR;
	if (!(ret->wait_ns > 0))
		return 0;
	suspects = suspect_one(job, group, blames);
	if (!are_to_blame(&suspects, ret->time_ns)) {
		ret->blame_share = blames[suspects.worst].wait_ns / ret->wait_ns;
		suspects = suspect_several(job, group, blames, ret->time_ns);
	}
	if ((by_step && ret->step_count < STALL_FEWEST) || ret->trimmed_ratio < STALL_TRIMMED ||
	    !are_to_blame(&suspects, ret->time_ns)) {
		acquit(job, group, blames);
	} else if (by_step && is_hidden(job, group, width, blames)) {
		ret->hidden = (int32_t)suspects.worst;
		acquit(job, group, blames);
	} else {
		ret->culprit = suspects.count == 1 ? (int32_t)suspects.worst : -1;
		ret->culprit_count = suspects.count;
		ret->saved_ns = suspects.saved_ns;
		find_gain(job, group, blames, ret);
		ret->blame_share = 0;
		for (size_t i = 0; i < job->rank_count; i++)
			if (is_of(job, group, i) && blames[i].is_culprit)
				ret->blame_share += blames[i].wait_ns / ret->wait_ns;
	}
	return 0;
}
