/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.h - holds all ranks' steps (waits included) in windows of 1, 2, 4, ... 64 steps.
 *
 * Ranks that wait for each other only in every k-th step show it only in windows of k steps. Each
 * width is stored, because it cannot be computed from another. A width with too many windows is
 * dropped. Windows of different ranks can be joined in any order.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WINDOW_WIDTHS 7                 /* 1 << 0 to 1 << 6 steps */
#define WINDOW_MOST   ((size_t)1 << 20) /* largest number of windows of one width */

/* 1 to 64 successive steps of all ranks. Partials store these 24 bytes as they are. */
struct window {
	float wait_ns;
	float second_ns;     /* longest wait of a rank other than `rank` */
	float pace_ns;       /* length of the window's steps in `rank` */
	float sum_ns;        /* length of the window's steps, summed over all ranks */
	int32_t rank;        /* rank with the longest wait; of equal waits, the first rank */
	uint32_t count : 31; /* number of ranks; 0: no data */
	uint32_t is_starved : 1;
};

struct window_part {
	double wait_ns, time_ns;
	double pace_ns;
	size_t count;
	bool is_starved;
};

struct windows {
	struct window_width {
		struct window *list;
		size_t count, capacity;
		bool is_full; /* too many windows (WINDOW_MOST), so the list stays empty */
		struct window_part part; /* the window that is being summed for the current rank */
		size_t index;
	} widths[WINDOW_WIDTHS];
	size_t placed;
	double wait_ns, time_ns; /* sums over the batches that `placed` counts */
};

/* Adds a step to `windows`, all zero at first; window_end() follows a rank's last step. */
int window_add(struct windows *windows, size_t step, size_t rank, const struct window_part *part);
int window_end(struct windows *windows, size_t rank);

/* Adds windows of other ranks to one width. Drops the width if there are over WINDOW_MOST. */
int window_merge(struct windows *windows, int width, size_t at, const struct window *list,
		 size_t count);

void window_add_sums(struct windows *windows, const struct windows *other);
int window_unite(struct windows *windows, const struct windows *other);

void window_done(struct windows *windows);
