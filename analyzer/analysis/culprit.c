/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/culprit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/stats.h"

#define TRIM_SHARE    0.005
#define BLAME         0.5 /* of what the ranks starved, and of what this one did */
#define BLAME_OF_NEXT 3   /* times what the next rank is to blame for */
#define SLOPE_ERROR   0.1 /* what is lost is exact where the slope is 1 but for so much */
#define LEAST_SLOPE   0.5 /* of a step's length by the wait in it: below it waits are hidden */
#define SURE_ERRORS   2   /* ... by so many standard errors */
#define ALWAYS_BEHIND 0.9 /* of a step: a loader that needs more never catches up */

/* The largest half percent of what the job lost: one event is no bottleneck. */
static int find_largest(const struct window_width *width, double *ret_largest_ns)
{
	float *waits = malloc((width->count + 1) * sizeof(*waits));
	struct stats_column column = {.values = waits};
	struct stats_order order;
	size_t i;

	*ret_largest_ns = 0;
	if (!waits)
		return -ENOMEM;
	for (i = 0; i < width->count; i++)
		if (width->list[i].count > 1 && width->list[i].wait_ns > 0)
			waits[column.count++] = width->list[i].wait_ns;
	if (column.count) {
		stats_order_init(&order, &column);
		*ret_largest_ns = stats_order_sum_largest(
			&order, (size_t)ceil(TRIM_SHARE * (double)column.count));
	}
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
		blame->step_count++;
	}
}

/* Without a rank's waits the job is no faster than the slowest loader of the others. */
static void limit_saved(const struct rank_job *job, struct rank_blame *blames, double time_ns)
{
	const double step_ns = job->time_ns / (double)job->batch_count;
	double slowest_ns = 0, second_ns = 0, period_ns;
	size_t slowest = 0, i;

	for (i = 0; i < job->rank_count; i++) {
		period_ns = (double)job->period_ns[i];
		if (period_ns > slowest_ns) {
			second_ns = slowest_ns;
			slowest_ns = period_ns;
			slowest = i;
		} else {
			second_ns = fmax(second_ns, period_ns);
		}
	}
	for (i = 0; i < job->rank_count; i++) {
		period_ns = i == slowest ? second_ns : slowest_ns;
		blames[i].saved_ns =
			fmin(blames[i].saved_ns, fmax(time_ns * (1 - period_ns / step_ns), 0));
	}
}

/* How much longer steps are by a longer wait in them, and the standard error of that. */
struct slope {
	double value, error;
};

/* `rank`: only where that one waits longest; -1: all. */
static struct slope find_slope(const struct window_width *width, int32_t rank)
{
	double n = 0, wait = 0, pace = 0, wait2 = 0, pace2 = 0, both = 0, slope;

	for (size_t i = 0; i < width->count; i++) {
		const struct window *window = &width->list[i];
		double wait_off = (double)window->wait_ns - wait;
		double pace_off = (double)window->pace_ns - pace;

		if (window->count < 2 || (rank >= 0 && window->rank != rank))
			continue;
		n++;
		wait += wait_off / n;
		pace += pace_off / n;
		wait2 += wait_off * ((double)window->wait_ns - wait);
		pace2 += pace_off * ((double)window->pace_ns - pace);
		both += wait_off * ((double)window->pace_ns - pace);
	}
	if (n < RANK_WINDOWS || !(wait2 > 0))
		return (struct slope){NAN, NAN};
	slope = both / wait2;
	return (struct slope){slope, sqrt(fmax(pace2 - slope * both, 0) / (n - 2) / wait2)};
}

/* Do steps take no longer where this rank waits longer? */
static bool is_hidden(const struct rank_job *job, const struct window_width *width, size_t rank)
{
	const double step_ns = job->time_ns / (double)job->batch_count;
	const struct slope slope = find_slope(width, (int32_t)rank);

	return (double)job->period_ns[rank] < ALWAYS_BEHIND * step_ns &&
	       slope.value + SURE_ERRORS * slope.error < LEAST_SLOPE;
}

/* Who starves most, and how long the next one does. */
static size_t find_worst(const struct rank_job *job, const struct rank_blame *blames,
			 double *ret_next_ns)
{
	size_t worst = 0, i;

	for (i = 1; i < job->rank_count; i++)
		if (blames[i].starved_ns > blames[worst].starved_ns)
			worst = i;
	*ret_next_ns = 0;
	for (i = 0; i < job->rank_count; i++)
		if (i != worst)
			*ret_next_ns = fmax(*ret_next_ns, blames[i].starved_ns);
	return worst;
}

int culprit_find(const struct rank_job *job, const struct window_width *width,
		 struct rank_blame *blames, struct rank_finding *ret)
{
	const bool by_step = ret->alignment == RANK_BY_STEP;
	const struct slope slope = find_slope(width, -1);
	const struct rank_blame *blame;
	double largest_ns, next_ns, starved_ns = 0;
	size_t worst, i;

	if (find_largest(width, &largest_ns) < 0)
		return -ENOMEM;
	lay_blame(width, blames);
	limit_saved(job, blames, ret->time_ns);
	for (i = 0; i < job->rank_count; i++)
		starved_ns += blames[i].starved_ns;
	worst = find_worst(job, blames, &next_ns);
	blame = &blames[worst];
	ret->trimmed_ratio = (ret->wait_ns - largest_ns) / ret->time_ns;
	ret->is_exact =
		by_step && slope.error <= SLOPE_ERROR && fabs(slope.value - 1) <= SLOPE_ERROR;
	if (!(ret->wait_ns > 0))
		return 0;
	ret->blame_share = blame->wait_ns / ret->wait_ns;
	if ((by_step && ret->step_count < STALL_FEWEST) || ret->trimmed_ratio < STALL_TRIMMED ||
	    blame->starved_ns <= BLAME * starved_ns ||
	    blame->starved_ns < BLAME_OF_NEXT * next_ns ||
	    blame->saved_ns < STALL_MODERATE * ret->time_ns ||
	    blame->saved_ns <= BLAME * blame->starved_ns)
		return 0;
	if (by_step && is_hidden(job, width, worst))
		ret->hidden = (int32_t)worst;
	else
		ret->culprit = (int32_t)worst;
	return 0;
}
