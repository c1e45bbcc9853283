/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stats.h"

#include <math.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS     3 /* 33 bits: all of a float */
#define BINS       (1u << DIGIT_BITS)

static uint32_t key_of(float value)
{
	uint32_t key;

	value += 0.0f; /* -0 is 0 */
	memcpy(&key, &value, sizeof(key));
	return key;
}

static float value_of(uint32_t key)
{
	float value;

	memcpy(&value, &key, sizeof(value));
	return value;
}

/* How many of the values whose higher digits are those of `prefix` have each value of this one. */
static void count_digit(const struct stats_column *column, unsigned shift, uint32_t prefix,
			size_t *bins)
{
	size_t i;

	memset(bins, 0, BINS * sizeof(*bins));
	for (i = 0; i < column->count; i++) {
		uint32_t key;

		if (!stats_takes(column, i))
			continue;
		key = key_of(column->values[i]);
		if ((uint64_t)key >> (shift + DIGIT_BITS) == prefix)
			bins[key >> shift & (BINS - 1)]++;
	}
}

size_t stats_count(const struct stats_column *column)
{
	size_t i, count = 0;

	for (i = 0; i < column->count; i++)
		count += stats_takes(column, i);
	return count;
}

double stats_rank(const struct stats_column *column, size_t rank)
{
	size_t bins[BINS];
	uint32_t prefix = 0;
	int digit;

	for (digit = DIGITS - 1; digit >= 0; digit--) {
		uint32_t bin = 0;

		count_digit(column, (unsigned)digit * DIGIT_BITS, prefix, bins);
		while (bin < BINS - 1 && rank >= bins[bin])
			rank -= bins[bin++];
		prefix = prefix << DIGIT_BITS | bin;
	}
	return (double)value_of(prefix);
}

double stats_median(const struct stats_column *column)
{
	size_t count = stats_count(column);
	double upper;

	if (!count)
		return NAN;
	upper = stats_rank(column, count / 2);
	return count % 2 ? upper : (stats_rank(column, count / 2 - 1) + upper) / 2;
}

double stats_quantile(const struct stats_column *column, double share)
{
	size_t count = stats_count(column), rank;
	double place = ceil(share * (double)count);

	if (!count)
		return NAN;
	rank = place < 1 ? 0 : (size_t)place - 1;
	return stats_rank(column, rank < count ? rank : count - 1);
}

double stats_sum_largest(const struct stats_column *column, size_t top)
{
	size_t count = stats_count(column), above = 0, i;
	double edge, sum = 0;

	if (top > count)
		top = count;
	if (!top)
		return 0;
	edge = stats_rank(column, count - top);
	for (i = 0; i < column->count; i++) {
		if (stats_takes(column, i) && (double)column->values[i] > edge) {
			sum += (double)column->values[i];
			above++;
		}
	}
	return sum + edge * (double)(top - above);
}

void stats_add(struct stats_moments *moments, double value)
{
	double delta = value - moments->mean;

	moments->count++;
	moments->mean += delta / (double)moments->count;
	moments->squares += delta * (value - moments->mean);
}

double stats_cv(const struct stats_moments *moments)
{
	if (moments->count < 2 || moments->mean == 0)
		return NAN;
	return sqrt(moments->squares / (double)(moments->count - 1)) / moments->mean;
}
