/* SPDX-License-Identifier: Apache-2.0 */
/* stats.h - statistics that several analyses use. Nothing here allocates. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Selects values of a column: those that are known (no NAN), not below 0, and whose state & mask is
 * `want`. If `state` is NULL, all are selected.
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

/*
 * Order statistics by counting the bits of the floats, which sort as the values do: exact, without
 * a copy of the column, and equally fast with any values. stats_order_init() passes over the column
 * once; a rank takes up to two more passes, which close ranks share.
 */
#define STATS_BINS 2048

struct stats_order {
	struct stats_column column;
	size_t count;               /* number of selected values */
	size_t bins[3][STATS_BINS]; /* counts by first bits; within a prefix, by the next */
	uint32_t prefix[3];         /* the prefixes whose values bins[1] and bins[2] count */
	bool filled[3];
};

void stats_order_init(struct stats_order *order, const struct stats_column *column);

/* Returns the value at `rank` (0: smallest) of the sorted values; rank < count. */
double stats_order_rank(struct stats_order *order, size_t rank);

/* Returns the least value that `share` (0-1) of all do not exceed (nearest rank), or NAN. */
double stats_order_quantile(struct stats_order *order, double share);

/* Returns the sum of the `top` largest values, or of all if there are fewer. */
double stats_order_sum_largest(struct stats_order *order, size_t top);

/* Returns the mean of the two middle values if their number is even; NAN if there is no value. */
double stats_median(const struct stats_column *column);

/* Mean and standard deviation, by Welford's update: exact for values that are close. */
struct stats_moments {
	size_t count;
	double mean;
	double squares; /* sum of squared deviations */
};

void stats_add(struct stats_moments *moments, double value);

/* Returns the standard deviation (n - 1); NAN for fewer than two values. */
double stats_deviation(const struct stats_moments *moments);

/* Returns standard deviation (n - 1) over mean; NAN for fewer than two values or a mean of 0. */
double stats_cv(const struct stats_moments *moments);

/* Means of pairs of values, and sums from which variances and correlation are computed. */
struct stats_pairs {
	double count, x, y; /* number of pairs, and their means */
	double xx, yy, xy;  /* sums of the products of deviations */
};

void stats_add_pair(struct stats_pairs *pairs, double x, double y);

/* Returns z of Welch's test between two samples; NAN if one has fewer than two values. */
double stats_welch(const struct stats_moments *a, const struct stats_moments *b);

/* Sorts values, the smallest first. No value may be NAN. */
void stats_sort(double *values, size_t count);

/* Returns the next number of a random sequence; its first state, which may be any, decides it. */
uint64_t stats_random(uint64_t *state);
