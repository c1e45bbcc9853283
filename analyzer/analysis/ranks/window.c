/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranks/window.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/array.h"

#define FIRST_WINDOWS 1024

static_assert(sizeof(struct window) == 24, "a partial holds it as it is");

/* Makes room for `count` windows. Returns 1, 0 if these are too many, or -ENOMEM. */
static int reserve(struct window_width *width, size_t count)
{
	size_t capacity = width->capacity ? width->capacity : FIRST_WINDOWS;

	if (count > WINDOW_MOST || width->is_full) {
		free(width->list);
		width->list = NULL;
		width->count = width->capacity = 0;
		width->is_full = true;
		return 0;
	}
	while (capacity < count)
		capacity *= 2;
	if (capacity != width->capacity) {
		if (!ARRAY_RESIZE(width->list, capacity))
			return -ENOMEM;
		width->capacity = capacity;
	}
	if (count > width->count) {
		memset(width->list + width->count, 0,
		       (count - width->count) * sizeof(*width->list));
		width->count = count;
	}
	return 1;
}

/* Joins two windows that have the same steps of different ranks. */
static void join(struct window *window, const struct window *other)
{
	const struct window before = *window;
	float longest = before.wait_ns;

	if (!other->count)
		return;
	if (!before.count || other->wait_ns > longest ||
	    (other->wait_ns == longest && other->rank < before.rank))
		*window = *other;
	else
		longest = other->wait_ns;
	if (!before.count)
		return;
	/* Here `longest` is the smaller one of both windows' longest waits. */
	window->second_ns = longest > window->second_ns ? longest : window->second_ns;
	window->sum_ns = before.sum_ns + other->sum_ns;
	window->count = before.count + other->count;
}

static int flush(struct window_width *width, size_t rank)
{
	const struct window own = {
		.wait_ns = (float)width->part.wait_ns,
		.pace_ns = (float)width->part.pace_ns,
		.sum_ns = (float)width->part.pace_ns,
		.rank = (int32_t)rank,
		.count = 1,
		.is_starved = width->part.is_starved,
	};
	int r = reserve(width, width->index + 1);

	if (r > 0)
		join(&width->list[width->index], &own);
	return r < 0 ? r : 0;
}

static void add_part(struct window_part *sum, const struct window_part *part)
{
	sum->wait_ns += part->wait_ns;
	sum->time_ns += part->time_ns;
	sum->pace_ns += part->pace_ns;
	sum->count += part->count;
	sum->is_starved |= part->is_starved;
}

/* Adds a step to the windows of width `i`. A complete window is added to the next width. */
static int add(struct windows *windows, int i, size_t index, size_t rank,
	       const struct window_part *part)
{
	struct window_part own = *part;

	for (; i < WINDOW_WIDTHS; i++, index /= 2) {
		struct window_width *width = &windows->widths[i];
		struct window_part complete = width->part;
		size_t complete_index = width->index;

		if (complete.count && complete_index == index) {
			add_part(&width->part, &own);
			return 0;
		}
		if (complete.count && flush(width, rank) < 0)
			return -ENOMEM;
		width->part = own;
		width->index = index;
		if (!complete.count)
			return 0;
		own = complete;
		index = complete_index;
	}
	return 0;
}

int window_add(struct windows *windows, size_t step, size_t rank, const struct window_part *part)
{
	if (step / 2 >= WINDOW_MOST << (WINDOW_WIDTHS - 2))
		return 0;
	windows->placed += part->count;
	windows->wait_ns += part->wait_ns;
	windows->time_ns += part->time_ns;
	return add(windows, 0, step, rank, part);
}

int window_end(struct windows *windows, size_t rank)
{
	int r = 0;

	for (int i = 0; r == 0 && i < WINDOW_WIDTHS; i++) {
		struct window_width *width = &windows->widths[i];
		const struct window_part part = width->part;

		if (!part.count)
			continue;
		r = flush(width, rank);
		width->part = (struct window_part){0};
		if (r == 0 && i + 1 < WINDOW_WIDTHS)
			r = add(windows, i + 1, width->index / 2, rank, &part);
	}
	return r;
}

int window_merge(struct windows *windows, int width, size_t at, const struct window *list,
		 size_t count)
{
	struct window_width *to = &windows->widths[width];
	int r = reserve(to, at + count);

	for (size_t i = 0; r > 0 && i < count; i++)
		join(&to->list[at + i], &list[i]);
	return r < 0 ? r : 0;
}

void window_add_sums(struct windows *windows, const struct windows *other)
{
	windows->placed += other->placed;
	windows->wait_ns += other->wait_ns;
	windows->time_ns += other->time_ns;
}

int window_unite(struct windows *windows, const struct windows *other)
{
	int r = 0;

	for (int i = 0; r == 0 && i < WINDOW_WIDTHS; i++) {
		const struct window_width *from = &other->widths[i];

		r = window_merge(windows, i, from->is_full ? WINDOW_MOST : 0, from->list,
				 from->is_full ? 1 : from->count);
	}
	window_add_sums(windows, other);
	return r;
}

void window_done(struct windows *windows)
{
	for (int i = 0; i < WINDOW_WIDTHS; i++)
		free(windows->widths[i].list);
	memset(windows, 0, sizeof(*windows));
}
