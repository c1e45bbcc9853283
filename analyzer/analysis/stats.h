/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.h - the few statistics that the analyses share. Nothing here allocates.
 */
#ifndef STATS_H
#define STATS_H

#include <stddef.h>
#include <stdint.h>

/*
 * The value that stands at `rank` (0: smallest) once `values` is sorted; reorders `values` so that
 * all before that place are not larger and all after it not smaller. O(n) expected, whatever the
 * order of the input. count > rank.
 */
int64_t stats_select(int64_t *values, size_t count, size_t rank);

/* The median, the mean of the two middle values where count is even; reorders. count > 0. */
double stats_median(int64_t *values, size_t count);

/*
 * The smallest value that at least `share` (0-1) of all values do not exceed (nearest rank);
 * reorders. count > 0.
 */
int64_t stats_quantile(int64_t *values, size_t count, double share);

/* The sum of the `top` largest values; reorders. Not more than count are taken. */
double stats_sum_largest(int64_t *values, size_t count, size_t top);

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
