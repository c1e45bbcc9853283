/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fold.h - tests whether a series has one given period: do phases differ more than by chance?
 *
 * A series of values in [0, 1] is cut into rows of P values. Under the null hypothesis each row may
 * be rotated by any shift, which keeps trends and bursts but not the phase that rows have in
 * common. The mean of a column is then a mean of independent values in [0, 1], which Hoeffding's
 * and Bennett's inequalities bound (see analysis/README.md). No value may be NAN.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define FOLD_MOST 512

/* Consecutive values. A row starts where (index in the segment + lead) is a multiple of P. */
struct fold_segment {
	size_t begin;
	size_t count;
	size_t lead;
};

/* Returns how many values of a segment come before its first row. */
static inline size_t fold_first_row(const struct fold_segment *segment, size_t period)
{
	size_t over = segment->lead % period;

	return over ? period - over : 0;
}

struct fold_series {
	const float *x;        /* values of all segments */
	const double *sums;    /* sums[i]: sum of x[0..i-1] */
	const double *squares; /* squares[i]: sum of the squares of x[0..i-1] */
	const struct fold_segment *segments;
	size_t segment_count;
	float highest;
	bool by_segment; /* the phase may differ from segment to segment */
};

/*
 * Returns the evidence E: by chance, the mean of one phase reaches `highest_mean` with at most the
 * probability exp(-E). In the formula of analysis/README.md, G is `rows`, m is `highest_mean`, mu
 * is `mean`, V is `variance` (the mean of the rows' variances), and b is `highest` - mu.
 */
double fold_evidence(double rows, double highest_mean, double mean, double variance,
		     double highest);

/* Returns ln P[Gamma(shape, 1) >= sum]. */
double fold_log_gamma_tail(size_t shape, double sum);

/*
 * Returns ln of the probability that phases differ so much by chance, or 0 for fewer than 3 rows.
 * The probability is corrected for the numbers of phases and of scales (all rows, blocks of 8,
 * blocks of 32), but not for that of periods. `factor` weakens the evidence (fold_memory()).
 */
double fold_log_p(const struct fold_series *series, size_t period, double factor);

/*
 * Returns a factor, at most 1, that weakens the evidence for a period: (1 - r)/(1 + r), where r is
 * the correlation of each row with the next row, rotated by half a period. Rows that are alike even
 * when rotated have another reason than a period. Returns 1 for r <= .02, or fewer than 6 rows.
 */
double fold_memory(const struct fold_series *series, size_t period);
