/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/stats.h"

static int compare(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return left < right ? -1 : left > right;
}

/* Every rank of many small arrays, with few distinct values and with many. */
Test(stats, select_agrees_with_sorting)
{
	int64_t values[40], sorted[40];
	unsigned seed = 7;

	for (int round = 0; round < 2000; round++) {
		size_t count = 1 + (size_t)rand_r(&seed) % 40;
		size_t rank = (size_t)rand_r(&seed) % count;
		int range = round % 3 ? 1000000 : 3;

		for (size_t i = 0; i < count; i++)
			sorted[i] = values[i] = rand_r(&seed) % range - range / 2;
		qsort(sorted, count, sizeof(sorted[0]), compare);
		cr_assert_eq(stats_select(values, count, rank), sorted[rank]);
		for (size_t i = 0; i < rank; i++)
			cr_assert(values[i] <= values[rank]);
		for (size_t i = rank; i < count; i++)
			cr_assert(values[i] >= values[rank]);
	}
}

/* Shapes that are slow for a naive pivot. */
Test(stats, select_is_fast_on_ordered_input, .timeout = 10)
{
	enum { N = 1000000 };
	int64_t *values = malloc(N * sizeof(*values));

	for (int shape = 0; shape < 4; shape++) {
		for (int64_t i = 0; i < N; i++)
			values[i] = shape == 0 ? i : shape == 1 ? N - i : shape == 2 ? 0 : i % 2;
		cr_assert_eq(stats_select(values, N, N / 2),
			     shape == 0 ? N / 2 : shape == 1 ? N / 2 + 1 : shape == 2 ? 0 : 1);
	}
	free(values);
}

Test(stats, median_of_an_even_count_is_the_mean_of_the_middle)
{
	int64_t odd[] = {9, 1, 5}, even[] = {10, 2, 4, 8}, one[] = {3};

	cr_assert_eq(stats_median(odd, 3), 5);
	cr_assert_eq(stats_median(even, 4), 6);
	cr_assert_eq(stats_median(one, 1), 3);
}

Test(stats, quantile_is_the_nearest_rank)
{
	int64_t values[100];

	for (int i = 0; i < 100; i++)
		values[i] = 100 - i;
	cr_assert_eq(stats_quantile(values, 100, 0.5), 50);
	cr_assert_eq(stats_quantile(values, 100, 0.99), 99);
	cr_assert_eq(stats_quantile(values, 100, 1), 100);
	cr_assert_eq(stats_quantile(values, 100, 0), 1);
	cr_assert_eq(stats_quantile(values, 1, 0.99), values[0]);
}

Test(stats, sum_of_the_largest)
{
	int64_t values[] = {5, 1, 9, 7, 3};

	cr_assert_eq(stats_sum_largest(values, 5, 0), 0);
	cr_assert_eq(stats_sum_largest(values, 5, 2), 16);
	cr_assert_eq(stats_sum_largest(values, 5, 50), 25);
	cr_assert_eq(stats_sum_largest(values, 0, 1), 0);
}

Test(stats, variation)
{
	struct stats_moments moments = {0};

	cr_assert(isnan(stats_cv(&moments)));
	stats_add(&moments, 1e12 + 1);
	cr_assert(isnan(stats_cv(&moments)));
	stats_add(&moments, 1e12 + 3);
	cr_assert_float_eq(stats_cv(&moments) * moments.mean, sqrt(2), 1e-9);
}
