/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/statistics/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 11
#define LEVELS     3 /* three times 11 bits are enough for the 32 of a float */

static uint32_t key_of(float value)
{
	uint32_t key;

	value += 0.0f; /* turns -0 into 0 */
	memcpy(&key, &value, sizeof(key));
	return key;
}

static float value_of(uint32_t key)
{
	float value;

	memcpy(&value, &key, sizeof(value));
	return value;
}

/* Counts the values whose leading bits are `prefix`, by the DIGIT_BITS bits that follow. */
static void fill_level(struct stats_order *order, int level, uint32_t prefix)
{
	const unsigned shift = (unsigned)(LEVELS - 1 - level) * DIGIT_BITS;
	const struct stats_column *column = &order->column;
	size_t *bins = order->bins[level], i;

	if (order->filled[level] && order->prefix[level] == prefix)
		return;
	order->filled[level] = true;
	order->prefix[level] = prefix;
	memset(bins, 0, sizeof(order->bins[level]));
	for (i = 0; i < column->count; i++) {
		uint32_t key = key_of(column->values[i]);

		if ((uint64_t)key >> (shift + DIGIT_BITS) == prefix && stats_takes(column, i))
			bins[key >> shift & (STATS_BINS - 1)]++;
	}
}

void stats_order_init(struct stats_order *order, const struct stats_column *column)
{
	order->column = *column;
	order->count = 0;
	order->filled[0] = order->filled[1] = order->filled[2] = false;
	fill_level(order, 0, 0);
	for (size_t bin = 0; bin < STATS_BINS; bin++)
		order->count += order->bins[0][bin];
}

double stats_order_rank(struct stats_order *order, size_t rank)
{
	uint32_t prefix = 0;

	for (int level = 0; level < LEVELS; level++) {
		uint32_t bin = 0;

		fill_level(order, level, prefix);
		while (bin < STATS_BINS - 1 && rank >= order->bins[level][bin])
			rank -= order->bins[level][bin++];
		prefix = prefix << DIGIT_BITS | bin;
	}
	return (double)value_of(prefix);
}

double stats_order_quantile(struct stats_order *order, double share)
{
	double place = ceil(share * (double)order->count);
	size_t rank = place < 1 ? 0 : (size_t)place - 1;

	if (!order->count)
		return NAN;
	return stats_order_rank(order, rank < order->count ? rank : order->count - 1);
}

double stats_sum_largest(const struct stats_column *column, size_t top)
{
	struct stats_order order;
	double edge, sum = 0;
	size_t above = 0, i;

	if (!top)
		return 0;
	stats_order_init(&order, column);
	if (!order.count)
		return 0;
	top = top < order.count ? top : order.count;
	edge = stats_order_rank(&order, order.count - top);
	for (i = 0; i < column->count; i++) {
		if (stats_takes(column, i) && (double)column->values[i] > edge) {
			sum += (double)column->values[i];
			above++;
		}
	}
	return sum + edge * (double)(top - above);
}

double stats_median(const struct stats_column *column)
{
	struct stats_order order;
	double upper;

	stats_order_init(&order, column);
	if (!order.count)
		return NAN;
	upper = stats_order_rank(&order, order.count / 2);
	return order.count % 2 ? upper
			       : (stats_order_rank(&order, order.count / 2 - 1) + upper) / 2;
}

double stats_mean(const float *values, size_t count, size_t *ret_count)
{
	double sum = 0;

	*ret_count = 0;
	for (size_t i = 0; i < count; i++) {
		if (!(values[i] >= 0))
			continue;
		sum += (double)values[i];
		++*ret_count;
	}
	return sum / (double)*ret_count;
}

void stats_add(struct stats_moments *moments, double value)
{
	double delta = value - moments->mean;

	moments->count++;
	moments->mean += delta / (double)moments->count;
	moments->squares += delta * (value - moments->mean);
}

struct stats_moments stats_moments_of(const double *values, size_t count)
{
	struct stats_moments moments = {0};

	for (size_t i = 0; i < count; i++)
		stats_add(&moments, values[i]);
	return moments;
}

double stats_deviation(const struct stats_moments *moments)
{
	return moments->count < 2 ? NAN : sqrt(moments->squares / (double)(moments->count - 1));
}

double stats_cv(const struct stats_moments *moments)
{
	return moments->mean == 0 ? NAN : stats_deviation(moments) / moments->mean;
}

void stats_add_pair(struct stats_pairs *pairs, double x, double y)
{
	const double dx = x - pairs->x, dy = y - pairs->y;

	pairs->count++;
	pairs->x += dx / pairs->count;
	pairs->y += dy / pairs->count;
	pairs->xx += dx * (x - pairs->x);
	pairs->yy += dy * (y - pairs->y);
	pairs->xy += dx * (y - pairs->y);
}

double stats_welch(const struct stats_moments *a, const struct stats_moments *b)
{
	double error;

	if (a->count < 2 || b->count < 2)
		return NAN;
	error = a->squares / (double)(a->count - 1) / (double)a->count +
		b->squares / (double)(b->count - 1) / (double)b->count;
	if (error > 0)
		return (a->mean - b->mean) / sqrt(error);
	return a->mean > b->mean ? INFINITY : a->mean < b->mean ? -INFINITY : 0;
}

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

void stats_sort(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_value);
}

/* The generator splitmix64 of Steele, Lea and Flood. */
uint64_t stats_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}
