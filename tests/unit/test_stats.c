/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/statistics/stats.h"

static struct stats_order order;

static void order_of(const float *values, size_t count)
{
	stats_order_init(&order, &(struct stats_column){values, NULL, count});
}

static size_t count_of(const struct stats_column *column)
{
	stats_order_init(&order, column);
	return order.count;
}

static int compare(const void *a, const void *b)
{
	float left = *(const float *)a, right = *(const float *)b;

	return left < right ? -1 : left > right;
}

/* Random ranks of small arrays of all sizes, with few distinct values or many. */
Test(stats, rank_agrees_with_sorting)
{
	float values[40], sorted[40];
	unsigned seed = 7;

	for (int round = 0; round < 2000; round++) {
		size_t count = 1 + (size_t)rand_r(&seed) % 40;
		size_t rank = (size_t)rand_r(&seed) % count;
		int range = round % 3 ? 1000000 : 3;
		float unit = round % 5 ? 1e-3f : 1e12f;

		for (size_t i = 0; i < count; i++)
			sorted[i] = values[i] = (float)(rand_r(&seed) % range) * unit;
		qsort(sorted, count, sizeof(sorted[0]), compare);
		order_of(values, count);
		cr_assert_eq(stats_order_rank(&order, rank), (double)sorted[rank]);
		rank = (size_t)rand_r(&seed) %
		       count; /* the first search must not change the second */
		cr_assert_eq(stats_order_rank(&order, rank), (double)sorted[rank]);
	}
}

Test(stats, looks_only_at_what_is_asked_for)
{
	const float values[] = {1, NAN, 3, 100, -5, 7};
	const uint8_t state[] = {4, 4, 5, 0, 4, 6};
	struct stats_column all = {values, NULL, 6}, some = {values, state, 6, 4, 4};

	cr_assert_eq(count_of(&all), 4);
	cr_assert_eq(stats_median(&all), 5);
	cr_assert_eq(count_of(&some), 3);
	cr_assert_eq(stats_median(&some), 3);
	some.want = 0;
	some.mask = 2 | 1;
	cr_assert_eq(count_of(&some), 2);
	some.mask = some.want = 128;
	cr_assert_eq(count_of(&some), 0);
	cr_assert(isnan(stats_median(&some)));
	cr_assert(isnan(stats_order_quantile(&order, 0.5)));
}

Test(stats, median_of_an_even_count_is_the_mean_of_the_middle)
{
	const float odd[] = {9, 1, 5}, even[] = {10, 2, 4, 8}, one[] = {3};

	cr_assert_eq(stats_median(&(struct stats_column){odd, NULL, 3}), 5);
	cr_assert_eq(stats_median(&(struct stats_column){even, NULL, 4}), 6);
	cr_assert_eq(stats_median(&(struct stats_column){one, NULL, 1}), 3);
}

Test(stats, quantile_is_the_nearest_rank)
{
	float values[100];

	for (int i = 0; i < 100; i++)
		values[i] = (float)(100 - i);
	order_of(values, 100);
	cr_assert_eq(stats_order_quantile(&order, 0.5), 50);
	cr_assert_eq(stats_order_quantile(&order, 0.99), 99);
	cr_assert_eq(stats_order_quantile(&order, 1), 100);
	cr_assert_eq(stats_order_quantile(&order, 0), 1);
	order_of(values, 1);
	cr_assert_eq(stats_order_quantile(&order, 0.99), 100);
}

Test(stats, sum_of_the_largest)
{
	const float values[] = {5, 1, 9, 7, 3, 7};
	const struct stats_column column = {values, NULL, 6}, none = {values, NULL, 0};

	cr_assert_eq(stats_sum_largest(&column, 0), 0);
	cr_assert_eq(stats_sum_largest(&column, 2), 16);
	cr_assert_eq(stats_sum_largest(&column, 3), 23);
	cr_assert_eq(stats_sum_largest(&column, 50), 32);
	cr_assert_eq(stats_sum_largest(&none, 1), 0);
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

Test(stats, welch_of_values_without_spread)
{
	struct stats_moments twos = {0}, threes = {0}, single = {0};

	stats_add(&single, 2);
	for (int i = 0; i < 3; i++) {
		stats_add(&twos, 2);
		stats_add(&threes, 3);
	}
	cr_expect_eq(stats_welch(&twos, &twos), 0);
	cr_expect_eq(stats_welch(&twos, &threes), -INFINITY);
	cr_expect_eq(stats_welch(&threes, &twos), INFINITY);
	cr_expect(isnan(stats_welch(&twos, &single)));
}
