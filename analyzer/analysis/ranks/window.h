/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.h - the steps of a job over all its ranks, in windows of 1, 2, 4, ... 64 steps.
 *
 * Ranks that accumulate gradients meet every k-th step only: step by step they seem not to wait for
 * each other, over k steps they do. A window of several steps cannot be made of those of one step
 * (the longest sum is not the sum of the longest), so there are windows of each width; rank.h
 * decides which one counts. If memory is full, the finest width is dropped first: the number of
 * windows is bounded, and a long job is judged by wider ones.
 *
 * Windows of some ranks and windows of others join to those of all of them, in any order: that is
 * how partials of `dlprof-report fold` come together.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WINDOW_WIDTHS 7                 /* widths are 1 << 0 to 1 << 6 steps */
#define WINDOW_MOST   ((size_t)1 << 20) /* most windows of one width */

/* Some steps of all ranks. Partials store these 24 bytes as they are. */
struct window {
	float wait_ns;           /* longest wait of any rank in these steps */
	float second_ns;         /* longest wait of any other rank */
	float pace_ns;           /* length of these steps in the rank that waited longest */
	float sum_ns;            /* sum of the steps' lengths over all ranks */
	int32_t rank;            /* rank that waited longest; the first if there are several */
	uint32_t count : 31;     /* number of ranks; 0: nothing is known */
	uint32_t is_starved : 1; /* the rank that waited longest starved in these steps */
};

/* Times of one rank in some steps. */
struct window_part {
	double wait_ns, time_ns;
	double pace_ns;
	size_t count; /* number of batches */
	bool is_starved;
};

struct windows {
	struct window_width {
		struct window *list;
		size_t count, capacity;
		bool is_full;            /* more than WINDOW_MOST windows: the list stays empty */
		struct window_part part; /* current window of the rank that is being added */
		size_t index;            /* index of `part` among the windows */
	} widths[WINDOW_WIDTHS];
	size_t placed;           /* batches in windows */
	double wait_ns, time_ns; /* sums over these batches */
};

/* Windows begin as all zero. These functions return 0 or -ENOMEM. */

/* Adds a step of a rank. Steps ascend; window_end() follows a rank's last step. */
int window_add(struct windows *windows, size_t step, size_t rank, const struct window_part *part);
int window_end(struct windows *windows, size_t rank);

/*
 * Adds a list of other ranks' windows of one width, from index `at` on. A width with more than
 * WINDOW_MOST windows is dropped.
 */
int window_merge(struct windows *windows, int width, size_t at, const struct window *list,
		 size_t count);

/* Adds all windows of other ranks over the same steps. */
int window_unite(struct windows *windows, const struct windows *other);

void window_done(struct windows *windows);
