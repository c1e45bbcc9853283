/* SPDX-License-Identifier: Apache-2.0 */
/* grid.h - predicts combinations of workers, prefetch, load time and order for a web page. */
#pragma once

#include "analysis/predict/whatif.h"

#define GRID_MOST 12

/* Values of one setting, in ascending order. */
struct grid_axis {
	double values[GRID_MOST];
	size_t count;
	size_t was; /* index of the run's own value */
};

struct grid {
	struct grid_axis workers, prefetch, load;
	bool in_order[2]; /* begins with the run's own value */
	size_t order_count, count; /* count: number of points */
	/* Sorted by number of workers, then by prefetch factor, load and order. */
	struct whatif_point *points;
};

/* Predicts the grid, with fewer points for a long run. Call grid_done() also after an error. */
int grid_predict(const struct whatif *whatif, const struct trace *trace, struct grid *ret);
void grid_done(struct grid *grid);
