/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/predict/grid.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "dlprof/units.h"

#define MOST_LOADS 2e7 /* all replays for the grid together have at most this many loads */

/* Number of values for each setting. The first row within MOST_LOADS is used, else the last row. */
static const struct {
	size_t workers, prefetch, load, order;
} levels[] = {{10, 4, 6, 2}, {8, 3, 4, 2}, {6, 2, 3, 1}, {4, 1, 2, 1}, {3, 1, 1, 1}};

/* Inserts a value in ascending order, if the list lacks it and has room. */
static void add(double *values, size_t *count, size_t room, double value, double most)
{
	size_t at = *count;

	if (*count == room || !(value >= 0 && value <= most))
		return;
	for (size_t i = 0; i < *count; i++)
		if (fabs(values[i] - value) < 1e-9)
			return;
	for (; at && values[at - 1] > value; at--)
		values[at] = values[at - 1];
	values[at] = value;
	++*count;
}

static size_t place_of(const double *values, size_t count, double value)
{
	for (size_t i = 0; i < count; i++)
		if (fabs(values[i] - value) < 1e-9)
			return i;
	return 0;
}

static void add_workers(const struct whatif *w, size_t room, struct grid *ret)
{
	const int32_t was = w->setups[WHATIF_BASELINE].workers;
	const double wanted[] = {
		was, 2.0 * was, was ? -1 : w->use_workers, w->more_workers, w->needed_workers,
		was / 2, 4.0 * was, 3.0 * was, was ? 1 : -1, was ? was - 1 : 2, was + 1,
		was ? was + was / 2 : 4, was ? -1 : 8,
	};
	double values[GRID_MOST];

	for (size_t i = 0; i < (w->has_fixed_workers ? 1 : ARRAY_COUNT(wanted)); i++)
		if (wanted[i] > 0 || !was)
			add(values, &ret->worker_count, room, wanted[i], TRACE_WORKERS);
	for (size_t i = 0; i < ret->worker_count; i++)
		ret->workers[i] = (int32_t)values[i];
	ret->worker_was = place_of(values, ret->worker_count, was);
}

static void add_prefetch(const struct whatif *w, size_t room, struct grid *ret)
{
	const int32_t was = w->setups[WHATIF_BASELINE].prefetch_factor;
	const double wanted[] = {was, 4.0 * was, 2.0 * was, 1, 8};
	double values[GRID_MOST];

	for (size_t i = 0; i < ARRAY_COUNT(wanted); i++)
		add(values, &ret->prefetch_count, room, wanted[i], REPLAY_SLOTS);
	for (size_t i = 0; i < ret->prefetch_count; i++)
		ret->prefetch[i] = (int32_t)values[i];
	ret->prefetch_was = place_of(values, ret->prefetch_count, was);
}

static void add_values(const struct whatif *whatif, double count, struct grid *ret)
{
	static const double loads[] = {1, 0.5, 0.25, 2, 0.75, 1.5};
	size_t level = 0;

	while (level + 1 < ARRAY_COUNT(levels) &&
	       count * (double)(levels[level].workers * levels[level].prefetch *
				levels[level].load * levels[level].order) > MOST_LOADS)
		level++;
	add_workers(whatif, levels[level].workers, ret);
	add_prefetch(whatif, levels[level].prefetch, ret);
	for (size_t i = 0; i < ARRAY_COUNT(loads); i++)
		add(ret->load, &ret->load_count, levels[level].load, loads[i], INFINITY);
	ret->load_was = place_of(ret->load, ret->load_count, 1);
	ret->order_count =
		whatif->setups[WHATIF_BASELINE].is_foreign ? 1 : levels[level].order;
	ret->in_order[0] = whatif->setups[WHATIF_BASELINE].in_order;
	ret->in_order[1] = !ret->in_order[0];
}

int grid_predict(const struct whatif *whatif, const struct trace *trace, struct grid *ret)
{
	struct replay_setup setup = whatif->setups[WHATIF_BASELINE];
	size_t at = 0;

	*ret = (struct grid){.points = NULL};
	if (isnan(whatif->batches_per_s[WHATIF_BASELINE]))
		return 0;
	add_values(whatif, (double)trace->count, ret);
	ret->points = calloc(ret->worker_count * ret->prefetch_count * ret->load_count *
				     ret->order_count, sizeof(*ret->points));
	if (!ret->points)
		return -ENOMEM;
	for (size_t i = 0; i < ret->worker_count; i++)
		for (size_t k = 0; k < ret->prefetch_count; k++)
			for (size_t l = 0; l < ret->load_count; l++)
				for (size_t o = 0; o < ret->order_count; o++) {
					setup.workers = ret->workers[i];
					setup.prefetch_factor = ret->prefetch[k];
					setup.load_factor = ret->load[l];
					setup.in_order = ret->in_order[o];
					ret->points[at++] = whatif_at(whatif, trace, &setup);
				}
	return 0;
}

void grid_done(struct grid *grid)
{
	free(grid->points);
	grid->points = NULL;
}
