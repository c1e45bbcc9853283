/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grid.h - predictions for every combination of a few numbers of workers, prefetch factors, lengths
 * of loads and orders of delivery, so that a page can show them without a replay.
 */
#pragma once

#include "analysis/predict/whatif.h"

#define GRID_MOST 12

struct grid {
	int32_t workers[GRID_MOST], prefetch[GRID_MOST];
	double load[GRID_MOST];
	bool in_order[2];
	/* Numbers of values, which ascend (in_order: the run's own first); indexes of the run's own
	 * values. */
	size_t worker_count, prefetch_count, load_count, order_count;
	size_t worker_was, prefetch_was, load_was;
	/* Points by number of workers, within it by prefetch factor, by load, and by order. */
	struct whatif_point *points;
};

/*
 * Fills the grid for a predicted run and its trace; the grid stays empty if nothing is predicted.
 * Long runs get fewer values, so that this takes about a second. Returns 0 or -ENOMEM; call
 * grid_done() in both cases.
 */
int grid_predict(const struct whatif *whatif, const struct trace *trace, struct grid *ret);
void grid_done(struct grid *grid);
