/* SPDX-License-Identifier: Apache-2.0 */
/* grid.h - predicts combinations of workers, prefetch, load time and order for a web page. */
#pragma once

#include "analysis/predict/whatif.h"

#define GRID_MOST 12

struct grid {
	int32_t workers[GRID_MOST], prefetch[GRID_MOST];
	double load[GRID_MOST];
	bool in_order[2];
	/* x_count: number of values in the array x; x_was: index of the run's own value in it.
	 * Values ascend, but in_order begins with the run's own value. */
	size_t worker_count, prefetch_count, load_count, order_count;
	size_t worker_was, prefetch_was, load_was;
	/* Sorted by number of workers, then by prefetch factor, load and order. */
	struct whatif_point *points;
};

/* Predicts the grid, with fewer points for a long run. Call grid_done() also after an error. */
int grid_predict(const struct whatif *whatif, const struct trace *trace, struct grid *ret);
void grid_done(struct grid *grid);
