/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/growth.h"

#include <math.h>

#include "analysis/statistics/stats.h"

#define PARTS  8  /* growth is looked for in this many parts with equally many batches */
#define FEWEST 16 /* growth is not looked for if a part has fewer batches */
/* times grow if the mean of the last quarter is at least this many times the first quarter's */
#define FACTOR 1.5
/* a part is longer than the part before if its mean is at least this many times as long */
#define STEP   1.03
#define STEPS  5 /* times grow only if this many parts are longer than the part before */
/* from some part on, each part takes at least this many times as long as any part before it */
#define APART  1.2

/* Returns true if from some part on all parts are clearly longer than all parts before it. */
static bool are_longer_later(const double *means)
{
	for (int from = 1; from < PARTS; from++) {
		double longest = 0, shortest = INFINITY;

		for (int i = 0; i < PARTS; i++)
			if (i < from)
				longest = fmax(longest, means[i]);
			else
				shortest = fmin(shortest, means[i]);
		if (shortest >= APART * longest)
			return true;
	}
	return false;
}

/* Returns true if most parts are longer than the part before. */
static bool are_rising(const double *means)
{
	int steps = 0;

	for (int i = 0; i + 1 < PARTS; i++)
		steps += means[i + 1] >= STEP * means[i];
	return steps >= STEPS;
}

static struct growth growth_of(const struct stats_moments *parts)
{
	struct growth growth = {0};
	double means[PARTS];

	for (int i = 0; i < PARTS; i++) {
		if (parts[i].count < FEWEST)
			return growth;
		means[i] = parts[i].mean;
	}
	growth.first_ns = (means[0] + means[1]) / 2;
	growth.last_ns = (means[PARTS - 2] + means[PARTS - 1]) / 2;
	if (growth.last_ns < FACTOR * growth.first_ns)
		return growth;
	growth.found = are_rising(means);
	growth.is_lasting = growth.found || are_longer_later(means);
	return growth;
}

struct growth growth_find(const struct batch_series *s, const float *ns, size_t epochs)
{
	struct stats_moments of_run[PARTS] = {0}, of_epoch[PARTS] = {0};
	struct series_walk e = {0};
	struct growth over_run, in_epoch;
	size_t count = 0, number = 0;

	for (size_t i = 0; ns && i < s->count; i++)
		count += series_is_steady(s, ns, i);
	if (!count)
		return (struct growth){0};
	while (series_walk_epochs(s, &e)) {
		for (size_t i = e.begin; i < e.end; i++) {
			if (!series_is_steady(s, ns, i))
				continue;
			stats_add(&of_run[number++ * PARTS / count], (double)ns[i]);
			stats_add(&of_epoch[(i - e.begin) * PARTS / (e.end - e.begin)],
				  (double)ns[i]);
		}
	}
	over_run = growth_of(of_run);
	in_epoch = growth_of(of_epoch);
	if (epochs < 2 || !in_epoch.found ||
	    (over_run.found &&
	     in_epoch.last_ns * over_run.first_ns < over_run.last_ns * in_epoch.first_ns))
		return over_run;
	in_epoch.in_epoch = true;
	return in_epoch;
}
