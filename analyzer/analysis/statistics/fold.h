/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fold.h - one period of the row-folded test: how unlikely is it that phases differ so much?
 *
 * A series of values in [0, 1] is cut into rows of P. Null hypothesis: every row may be rotated by
 * any shift without making a difference. That preserves trends, bursts and the values of a row, and
 * destroys only what the rows have in common: the phase. Under it the mean of a column is a mean of
 * independent values in [0, 1], which Hoeffding's and Bennett's inequalities bound (the formula is
 * in analysis/README.md). No value may be NAN; all of this is deterministic.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define FOLD_MOST 512 /* longest period that is folded */

/* Values cut into rows of one period; a row starts where (index + lead) is a multiple of it. */
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
	float highest;   /* highest value in x */
	bool by_segment; /* each segment may have its own phase */
};

/*
 * Returns E = max(G' KL(m || mu), G' V/b^2 h(b (m - mu)/V)), h(u) = (1 + u) ln(1 + u) - u: ln of
 * the bound that the mean of one of the phases reaches m. `rows` is G', mu the mean of all, V the
 * mean variance within the rows, b how far above mu a value can be.
 */
double fold_evidence(double rows, double highest_mean, double mean, double variance,
		     double highest);

/* Returns ln P[Gamma(shape, 1) >= sum]. */
double fold_log_gamma_tail(size_t shape, double sum);

/*
 * Returns ln p of the period, corrected for its phases and for the scales used (all rows, blocks of
 * 8 rows, blocks of 32 rows, whose phases may differ; or each segment by itself), not for other
 * periods. `factor` is G'/G. Returns 0 if there are less than 3 rows.
 */
double fold_log_p(const struct fold_series *series, size_t period, double factor);

/*
 * Returns G'/G = (1 - r)/(1 + r), r the correlation of adjacent rows, their means removed, at a
 * shift of half a period (at which the period itself does not count): short memory makes rows
 * alike. Returns 1 if r is at most .02 or there are less than 6 rows.
 */
double fold_memory(const struct fold_series *series, size_t period);
