/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of steps are exact at each width, limited in number, and the same in any ranks' order. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/ranks/window.h"

static void add_rank(struct windows *windows, size_t rank, size_t steps, unsigned seed)
{
	srand(seed + (unsigned)rank);
	for (size_t step = 0; step < steps; step++) {
		const double wait = rand() % 7 ? 0 : rand() % 100;

		cr_assert_eq(window_add(windows, step, rank,
					&(struct window_part){.wait_ns = wait,
							      .time_ns = 100 + wait,
							      .pace_ns = 100 + wait,
							      .count = 1}),
			     0);
	}
	cr_assert_eq(window_end(windows, rank), 0);
}

Test(window, a_wide_one_has_the_rank_with_the_longest_sum)
{
	struct windows windows = {.placed = 0};
	static const double waits[2][4] = {{10, 0, 10, 0}, {0, 6, 0, 6}};
	const struct window *one, *four;

	for (size_t rank = 0; rank < 2; rank++) {
		for (size_t step = 0; step < 4; step++)
			window_add(&windows, step, rank,
				   &(struct window_part){.wait_ns = waits[rank][step],
							 .pace_ns = 50,
							 .count = 1});
		window_end(&windows, rank);
	}
	one = &windows.widths[0].list[1];
	cr_assert_eq(one->rank, 1);
	cr_assert_float_eq(one->wait_ns, 6, 0);
	four = &windows.widths[2].list[0];
	cr_assert_eq(four->rank, 0);
	cr_assert_float_eq(four->wait_ns, 20, 0);
	cr_assert_float_eq(four->second_ns, 12, 0);
	cr_assert_float_eq(four->sum_ns, 400, 0);
	cr_assert_eq(four->count, 2);
	cr_assert_eq(windows.widths[2].count, 1);
	window_done(&windows);
}

Test(window, parts_of_a_job_join_to_the_whole_in_any_order)
{
	struct windows whole = {.placed = 0}, odd = {.placed = 0}, even = {.placed = 0};

	for (size_t rank = 0; rank < 7; rank++) {
		add_rank(&whole, rank, 300 + rank, 1);
		add_rank(rank % 2 ? &odd : &even, rank, 300 + rank, 1);
	}
	cr_assert_eq(odd.placed + even.placed, whole.placed);
	for (int i = 0; i < WINDOW_WIDTHS; i++) {
		const size_t bytes = whole.widths[i].count * sizeof(*whole.widths[i].list);

		cr_assert_eq(window_merge(&odd, i, 0, even.widths[i].list, even.widths[i].count),
			     0);
		cr_assert_eq(odd.widths[i].count, whole.widths[i].count);
		cr_assert_eq(memcmp(odd.widths[i].list, whole.widths[i].list, bytes), 0, "%d", i);
	}
	window_done(&whole);
	window_done(&odd);
	window_done(&even);
}

Test(window, a_long_job_is_kept_in_wider_ones)
{
	struct windows windows = {.placed = 0};
	const size_t steps = WINDOW_MOST + 10;

	for (size_t rank = 0; rank < 2; rank++)
		add_rank(&windows, rank, steps, 1);
	cr_assert_eq(windows.placed, 2 * steps);
	cr_assert_eq(windows.widths[0].count, 0, "given up");
	cr_assert_eq(windows.widths[1].count, (steps + 1) / 2);
	cr_assert_eq(windows.widths[1].list[steps / 2 - 1].count, 2, "both ranks to the end");
	window_done(&windows);
}
