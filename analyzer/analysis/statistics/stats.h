/* SPDX-License-Identifier: Apache-2.0 */
/* stats.h - statistics that several analyses use. Nothing here allocates memory. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline double stats_ratio(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

/* Selects values >= 0 with (state & mask) == want. `state` may be NULL. */
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

/* Finds the k-th smallest value, exactly, by counting values >= 0 by their leading bits. */
#define STATS_BINS 2048

struct stats_order {
	struct stats_column column;
	size_t count;
	size_t bins[3][STATS_BINS]; /* number of values: by first bits, next bits, last bits */
	uint32_t prefix[3];         /* first bits of the values that bins[1] and [2] count */
	bool filled[3];
};

void stats_order_init(struct stats_order *order, const struct stats_column *column);

/* Returns the value of rank `rank` (0: the smallest); rank < count. */
double stats_order_rank(struct stats_order *order, size_t rank);

/* Returns the value that `share` (0-1) of the values do not exceed. NAN: there are no values. */
double stats_order_quantile(struct stats_order *order, double share);

/* Returns the median, or NAN if there is no value. */
double stats_median(const struct stats_column *column);

/* Returns the sum of the `top` largest values, or of all if there are fewer. */
double stats_sum_largest(const struct stats_column *column, size_t top);

/* Returns the mean of the values >= 0, whose number is *ret_count. NAN: there are none. */
double stats_mean(const float *values, size_t count, size_t *ret_count);

/* Mean and variance of values, by Welford's update, which is exact also for close values. */
struct stats_moments {
	size_t count;
	double mean;
	double squares;
};

void stats_add(struct stats_moments *moments, double value);

struct stats_moments stats_moments_of(const double *values, size_t count);

/* Returns the standard deviation (n - 1); NAN for fewer than two values. */
double stats_deviation(const struct stats_moments *moments);

/* Returns standard deviation (n - 1) over mean; NAN for fewer than two values or a mean of 0. */
double stats_cv(const struct stats_moments *moments);

struct stats_pairs {
	double count, x, y; /* number of pairs, and their means */
	double xx, yy, xy;  /* sums of products of the deviations from the means */
};

void stats_add_pair(struct stats_pairs *pairs, double x, double y);

/* Returns z of Welch's test; NAN if a sample has fewer than two values. */
double stats_welch(const struct stats_moments *a, const struct stats_moments *b);

/* Sorts the values in ascending order. None may be NAN. */
void stats_sort(double *values, size_t count);

/* Returns true for `wanted` parts, spread evenly over all, or for all if there are no more. */
static inline bool stats_is_sampled(size_t part, size_t parts, size_t wanted)
{
	return parts <= wanted || part * wanted / parts != (part + 1) * wanted / parts;
}

/* Returns the next random number. The first *state, any number, determines the sequence. */
uint64_t stats_random(uint64_t *state);
