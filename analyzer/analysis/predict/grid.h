/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grid.h - predicts all combinations of a few numbers of workers, prefetch factors, lengths of
 * loads and orders of delivery, so that a web page can show them without replaying.
 */
#pragma once

#include "analysis/predict/whatif.h"

#define GRID_MOST 12

struct grid {
	int32_t workers[GRID_MOST], prefetch[GRID_MOST];
	double load[GRID_MOST];
	bool in_order[2];
	/* Numbers of values, and indexes of the run's own values. Values are in ascending order; in
	 * in_order the run's own is first. */
	size_t worker_count, prefetch_count, load_count, order_count;
	size_t worker_was, prefetch_was, load_was;
	/* Points, sorted by number of workers, then by prefetch factor, load and order. */
	struct whatif_point *points;
};

/*
 * Fills the grid. Without predictions it stays empty. A long run gets fewer values, so that this
 * takes about a second. Returns 0 or -ENOMEM; call grid_done() in both cases.
 */
int grid_predict(const struct whatif *whatif, const struct trace *trace, struct grid *ret);
void grid_done(struct grid *grid);
