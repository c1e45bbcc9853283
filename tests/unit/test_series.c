/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "analysis/series.h"

static const struct batch_row NOTHING = {
	.wait_ns = SERIES_UNKNOWN,
	.compute_ns = SERIES_UNKNOWN,
	.load_ns = SERIES_UNKNOWN,
	.begin_ns = SERIES_UNKNOWN,
	.worker = -1,
	.head_ready = -1,
};

Test(series, what_was_never_observed_has_no_column)
{
	struct batch_series series;
	struct batch_row row = NOTHING;

	series_init(&series);
	row.wait_ns = 5;
	cr_assert_eq(series_append(&series, &row), 0);
	cr_assert_eq(series.count, 1);
	cr_assert_eq(series.wait_ns[0], 5);
	cr_assert_null(series.compute_ns);
	cr_assert_null(series.load_ns);
	cr_assert_null(series.begin_ns);
	cr_assert_eq(series.workers, -1);
	series_done(&series);
	cr_assert_eq(series.count, 0);
}

Test(series, a_late_column_is_unknown_before)
{
	enum { FIRST = 3000, COUNT = 5000 };
	struct batch_series series;

	series_init(&series);
	for (int i = 0; i < COUNT; i++) {
		struct batch_row row = NOTHING;

		row.wait_ns = i;
		row.batch = i;
		row.load_ns = i >= FIRST ? i * 2 : SERIES_UNKNOWN;
		cr_assert_eq(series_append(&series, &row), 0);
	}
	cr_assert_eq(series.count, COUNT);
	for (int i = 0; i < COUNT; i++) {
		cr_assert_eq(series.wait_ns[i], i);
		cr_assert_eq(series.batch[i], i);
		cr_assert_eq(series.load_ns[i], i >= FIRST ? i * 2 : SERIES_UNKNOWN);
	}
	series_done(&series);
}
