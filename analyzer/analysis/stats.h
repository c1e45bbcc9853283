/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.h - the few statistics that the analyses share. Nothing here allocates.
 */
#ifndef STATS_H
#define STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Values of a column to look at: those that are known (no NAN), not below 0, and whose state has
 * the bits `want` of `mask`. `state` may be NULL: all.
 */
struct stats_column {
	const float *values;
	const uint8_t *state;
	size_t count;
	uint8_t mask, want;
};

static inline bool stats_takes(const struct stats_column *column, size_t i)
{
	return (!column->state || (column->state[i] & column->mask) == column->want) &&
	       column->values[i] >= 0;
}

/* How many values that are. */
size_t stats_count(const struct stats_column *column);

/*
 * Order statistics by counting the bits of the floats, which sort as the values do: three passes,
 * exact, no copy of the column, and no input is slower than another.
 *
 * stats_rank(): the value at `rank` (0: smallest) of the sorted values; rank < stats_count().
 * stats_median(): the mean of the two middle values where their number is even.
 * stats_quantile(): the smallest value that at least `share` (0-1) of all do not exceed (nearest
 * rank). Both NAN where there is no value.
 */
double stats_rank(const struct stats_column *column, size_t rank);
double stats_median(const struct stats_column *column);
double stats_quantile(const struct stats_column *column, double share);

/* The sum of the `top` largest values; not more than there are. */
double stats_sum_largest(const struct stats_column *column, size_t top);

/* Mean and standard deviation by Welford's update: no cancellation for close values. */
struct stats_moments {
	size_t count;
	double mean;
	double squares;		/* sum of squared deviations */
};

void stats_add(struct stats_moments *moments, double value);

/* Standard deviation over mean (n - 1); NAN for fewer than two values or a mean of 0. */
double stats_cv(const struct stats_moments *moments);

#endif
