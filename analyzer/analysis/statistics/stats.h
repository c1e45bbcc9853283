/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.h - the few statistics that the analyses share. Nothing here allocates.
 */
#pragma once

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

/*
 * Order statistics by counting the bits of the floats, which sort as the values do: exact, no copy
 * of the column, and no input is slower than another. The first pass over the column is the
 * init's; a rank takes up to two more, which ranks that lie close together share.
 */
#define STATS_BINS 2048

struct stats_order {
	struct stats_column column;
	size_t count;               /* values that are looked at */
	size_t bins[3][STATS_BINS]; /* counts by first bits; within a prefix, by the next */
	uint32_t prefix[3];         /* the prefixes of which bins[1] and bins[2] count */
	bool filled[3];
};

void stats_order_init(struct stats_order *order, const struct stats_column *column);

/* The value at `rank` (0: smallest) of the sorted values; rank < count. */
double stats_order_rank(struct stats_order *order, size_t rank);

/* The smallest value that at least `share` (0-1) of all do not exceed (nearest rank), or NAN. */
double stats_order_quantile(struct stats_order *order, double share);

/* The sum of the `top` largest values; not more than there are. */
double stats_order_sum_largest(struct stats_order *order, size_t top);

/* The mean of the two middle values where their number is even; NAN where there is no value. */
double stats_median(const struct stats_column *column);

/* Mean and standard deviation by Welford's update: no cancellation for close values. */
struct stats_moments {
	size_t count;
	double mean;
	double squares; /* sum of squared deviations */
};

void stats_add(struct stats_moments *moments, double value);

/* Standard deviation (n - 1); NAN for fewer than two values. */
double stats_deviation(const struct stats_moments *moments);

/* Standard deviation over mean (n - 1); NAN for fewer than two values or a mean of 0. */
double stats_cv(const struct stats_moments *moments);

/* Means of pairs of values, their deviations, and how these go together. */
struct stats_pairs {
	double count, x, y; /* number of pairs, and their means */
	double xx, yy, xy;  /* sums of products of the deviations */
};

void stats_add_pair(struct stats_pairs *pairs, double x, double y);

/* z of Welch's test between two samples given by their moments; NAN where one has less than 2. */
double stats_welch(const struct stats_moments *a, const struct stats_moments *b);

/* Sorts values of which none is NAN, the smallest first. */
void stats_sort(double *values, size_t count);

/* The next number of a random sequence, which the first state decides; any state will do. */
uint64_t stats_random(uint64_t *state);
