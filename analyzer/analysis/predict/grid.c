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

/* Inserts a value, if the list lacks it and has room for one of `room` values. */
static void add(struct grid_axis *axis, size_t room, double value, double most)
{
	size_t at = axis->count;

	if (at == room || !(value >= 0 && value <= most))
		return;
	for (size_t i = 0; i < axis->count; i++)
		if (fabs(axis->values[i] - value) < 1e-9)
			return;
	for (; at && axis->values[at - 1] > value; at--)
		axis->values[at] = axis->values[at - 1];
	axis->values[at] = value;
	axis->was += axis->count && at <= axis->was; /* the first value is that of the run */
	axis->count++;
}

static void add_workers(const struct whatif *w, size_t room, struct grid_axis *ret)
{
	const int32_t was = w->setups[WHATIF_BASELINE].workers;
	const double wanted[] = {
		was, 2.0 * was, was ? -1 : w->use_workers, w->more_workers, w->needed_workers,
		was / 2, 4.0 * was, 3.0 * was, was ? 1 : -1, was ? was - 1 : 2, was + 1,
		was ? was + was / 2 : 4, was ? -1 : 8,
	};

	for (size_t i = 0; i < (w->has_fixed_workers ? 1 : ARRAY_COUNT(wanted)); i++)
		if (wanted[i] > 0 || !was)
			add(ret, room, wanted[i], TRACE_WORKERS);
}

/* Adds the run's own value of each setting first, and then others as long as there is room. */
static void add_values(const struct whatif *whatif, double count, struct grid *ret)
{
	const struct replay_setup *now = &whatif->setups[WHATIF_BASELINE];
	const double prefetch[] = {now->prefetch_factor, 4.0 * now->prefetch_factor,
				   2.0 * now->prefetch_factor, 1, 8};
	static const double loads[] = {1, 0.5, 0.25, 2, 0.75, 1.5};
	size_t level = 0;

	while (level + 1 < ARRAY_COUNT(levels) &&
	       count * (double)(levels[level].workers * levels[level].prefetch *
				levels[level].load * levels[level].order) > MOST_LOADS)
		level++;
	add_workers(whatif, levels[level].workers, &ret->workers);
	for (size_t i = 0; i < ARRAY_COUNT(prefetch); i++)
		add(&ret->prefetch, levels[level].prefetch, prefetch[i], REPLAY_SLOTS);
	for (size_t i = 0; i < ARRAY_COUNT(loads); i++)
		add(&ret->load, levels[level].load, loads[i], INFINITY);
	ret->order_count = now->is_foreign ? 1 : levels[level].order;
	ret->in_order[0] = now->in_order;
	ret->in_order[1] = !now->in_order;
}

int grid_predict(const struct whatif *whatif, const struct trace *trace, struct grid *ret)
{
	struct replay_setup setup = whatif->setups[WHATIF_BASELINE];
	size_t at = 0;

	*ret = (struct grid){.points = NULL};
	if (isnan(whatif->batches_per_s[WHATIF_BASELINE]))
		return 0;
	add_values(whatif, (double)trace->count, ret);
	ret->count = ret->workers.count * ret->prefetch.count * ret->load.count * ret->order_count;
	ret->points = calloc(ret->count, sizeof(*ret->points));
	if (!ret->points)
		return -ENOMEM;
	for (size_t i = 0; i < ret->workers.count; i++)
		for (size_t k = 0; k < ret->prefetch.count; k++)
			for (size_t l = 0; l < ret->load.count; l++)
				for (size_t o = 0; o < ret->order_count; o++) {
					setup.workers = (int32_t)ret->workers.values[i];
					setup.prefetch_factor = (int32_t)ret->prefetch.values[k];
					setup.load_factor = ret->load.values[l];
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
