/* SPDX-License-Identifier: Apache-2.0 */
/* fold.c - the period test's inner loops, compiled with flags that vectorise sums (meson.build). */
#include "analysis/statistics/fold.h"

#include <math.h>
#include <string.h>

#define BLOCK        8
#define GROUP        4 /* blocks of 8 rows in a block of 32 */
#define LEAST_8      16
#define LEAST_32     64
#define LEAST_ROWS   3
#define MEMORY_ROWS  6
#define MEMORY_FLOOR 0.02
#define MEMORY_MOST  0.9

static double kl(double a, double b)
{
	double sum = 0;

	if (a > 0)
		sum += a * log(a / b);
	if (a < 1)
		sum += (1 - a) * log((1 - a) / (1 - b));
	return sum;
}

double fold_evidence(double rows, double highest_mean, double mean, double variance, double highest)
{
	double excess = highest_mean - mean, room = highest - mean;
	double best, u;

	if (!(excess > 0) || !(mean > 0) || mean >= 1 || !(room > 0))
		return 0;
	best = kl(highest_mean < 1 ? highest_mean : 1, mean);
	if (variance > 0) {
		u = room * excess / variance;
		best = fmax(best, variance / (room * room) * ((1 + u) * log1p(u) - u));
	}
	return rows * best;
}

double fold_log_gamma_tail(size_t shape, double sum)
{
	double n = (double)shape, term = 1, total = 1, i;

	/* If sum <= n, p is above about a half: no evidence, and the series below would be long. */
	if (!shape || sum <= n)
		return 0;
	/* `total` is the sum of e^-sum sum^i / i! over i < n, in units of its last term. */
	for (i = n - 1; i > 0; i--) {
		term *= i / sum;
		total += term;
		if (term < 1e-12 * total)
			break;
	}
	return fmin(0, -sum + (n - 1) * log(sum) - lgamma(n) + log(total));
}

struct rows {
	float total[FOLD_MOST];
	double count;
	double sum;
	double square;
	double row_square; /* sum of the squares of the rows' sums */
};

static void rows_clear(struct rows *rows, size_t period)
{
	memset(rows->total, 0, period * sizeof(*rows->total));
	rows->count = rows->sum = rows->square = rows->row_square = 0;
}

static void rows_add(struct rows *to, const struct rows *from, size_t period)
{
	for (size_t k = 0; k < period; k++)
		to->total[k] += from->total[k];
	to->count += from->count;
	to->sum += from->sum;
	to->square += from->square;
	to->row_square += from->row_square;
}

static double rows_evidence(const struct rows *rows, size_t period, float highest, double factor,
			    double least)
{
	double values = rows->count * (double)period;
	double mean = rows->sum / values;
	double variance = rows->square / values - rows->row_square / (values * (double)period);
	double excess, bound;
	float top = 0;

	for (size_t k = 0; k < period; k++)
		top = rows->total[k] > top ? rows->total[k] : top;
	excess = top / rows->count - mean;
	if (!(excess > 0) || !(mean > 0))
		return 0;
	/* This upper bound of E needs no logarithm. If it is below `least`, so is E. */
	bound = factor * rows->count * excess * excess *
		fmax(1 / (mean * (1 - mean)), variance > 0 ? 0.5 / variance : 0);
	if (bound < least)
		return 0;
	return fold_evidence(factor * rows->count, top / rows->count, mean, variance, highest);
}

static void add_columns(float *restrict total, const float *restrict x, size_t period)
{
	const float *b = x + period, *c = b + period, *d = c + period, *e = d + period,
		    *f = e + period, *g = f + period, *h = g + period;

	for (size_t k = 0; k < period; k++)
		total[k] = x[k] + b[k] + c[k] + d[k] + e[k] + f[k] + g[k] + h[k];
}

/* Sums up `count` rows: BLOCK, or fewer at the end of a segment. */
static void take_rows(struct rows *rows, const struct fold_series *s, size_t begin, size_t count,
		      size_t period)
{
	const double *sums = s->sums + begin;
	double row_square = 0;

	if (count == BLOCK) {
		add_columns(rows->total, s->x + begin, period);
	} else {
		memset(rows->total, 0, period * sizeof(*rows->total));
		for (size_t row = 0; row < count; row++)
			for (size_t k = 0; k < period; k++)
				rows->total[k] += s->x[begin + row * period + k];
	}
	for (size_t row = 0; row < count; row++) {
		double sum = sums[(row + 1) * period] - sums[row * period];

		row_square += sum * sum;
	}
	rows->count = (double)count;
	rows->sum = sums[count * period] - sums[0];
	rows->square = s->squares[begin + count * period] - s->squares[begin];
	rows->row_square = row_square;
}

static size_t row_count(const struct fold_segment *segment, size_t period)
{
	size_t first = fold_first_row(segment, period);

	return segment->count > first ? (segment->count - first) / period : 0;
}

/* Evidence of all blocks of one length. `sum` is the sum of max(0, E - ln P) over the blocks. */
struct scale {
	size_t blocks;
	double sum;
};

static void scale_add(struct scale *scale, const struct rows *rows, size_t period, float highest,
		      double factor, double log_period)
{
	double evidence = rows_evidence(rows, period, highest, factor, log_period);

	scale->blocks++;
	if (evidence > log_period)
		scale->sum += evidence - log_period;
}

static double log_p_by_segment(const struct fold_series *s, size_t period, double factor)
{
	struct rows all, block;
	struct scale scale = {0};
	double log_period = log((double)period);

	for (size_t i = 0; i < s->segment_count; i++) {
		size_t begin = s->segments[i].begin + fold_first_row(&s->segments[i], period);
		size_t count = row_count(&s->segments[i], period);

		if (count < LEAST_ROWS)
			continue;
		rows_clear(&all, period);
		for (size_t row = 0; row < count; row += BLOCK) {
			take_rows(&block, s, begin + row * period,
				  count - row < BLOCK ? count - row : BLOCK, period);
			rows_add(&all, &block, period);
		}
		scale_add(&scale, &all, period, s->highest, factor, log_period);
	}
	return fold_log_gamma_tail(scale.blocks, scale.sum);
}

double fold_log_p(const struct fold_series *s, size_t period, double factor)
{
	struct rows all, group, block;
	struct scale of_8 = {0}, of_32 = {0};
	double log_period = log((double)period), log_p;
	size_t i, row, rows = 0, scales = 1;

	if (s->by_segment)
		return log_p_by_segment(s, period, factor);
	for (i = 0; i < s->segment_count; i++)
		rows += row_count(&s->segments[i], period);
	if (rows < LEAST_ROWS)
		return 0;
	rows_clear(&all, period);
	for (i = 0; i < s->segment_count; i++) {
		const struct fold_segment *segment = &s->segments[i];
		size_t begin = segment->begin + fold_first_row(segment, period);
		size_t count = row_count(segment, period), in_group = 0;

		for (row = 0; row < count; row += BLOCK) {
			size_t part = count - row < BLOCK ? count - row : BLOCK;

			take_rows(&block, s, begin + row * period, part, period);
			rows_add(&all, &block, period);
			if (part < BLOCK || rows < LEAST_8)
				continue;
			scale_add(&of_8, &block, period, s->highest, factor, log_period);
			if (rows < LEAST_32)
				continue;
			if (!in_group)
				rows_clear(&group, period);
			rows_add(&group, &block, period);
			if (++in_group == GROUP) {
				scale_add(&of_32, &group, period, s->highest, factor, log_period);
				in_group = 0;
			}
		}
	}
	log_p = log_period - rows_evidence(&all, period, s->highest, factor, 0);
	if (rows >= LEAST_8) {
		log_p = fmin(log_p, fold_log_gamma_tail(of_8.blocks, of_8.sum));
		scales++;
	}
	if (rows >= LEAST_32) {
		log_p = fmin(log_p, fold_log_gamma_tail(of_32.blocks, of_32.sum));
		scales++;
	}
	return fmin(0, log_p + log((double)scales));
}

static float dot(const float *restrict a, const float *restrict b, size_t count)
{
	float sum = 0;

	for (size_t k = 0; k < count; k++)
		sum += a[k] * b[k];
	return sum;
}

double fold_memory(const struct fold_series *s, size_t period)
{
	size_t half = period / 2, pairs = 0, rows = 0, i, row;
	double product = 0, square = 0, r, n = (double)period;

	for (i = 0; i < s->segment_count; i++) {
		const struct fold_segment *segment = &s->segments[i];
		size_t begin = segment->begin + fold_first_row(segment, period);
		size_t count = row_count(segment, period);

		for (row = 0; row < count; row++) {
			size_t at = begin + row * period;
			double sum = s->sums[at + period] - s->sums[at];

			square += s->squares[at + period] - s->squares[at] - sum * sum / n;
			rows++;
			if (row + 1 == count)
				break;
			product += dot(s->x + at, s->x + at + period + half, period - half) +
				   dot(s->x + at + period - half, s->x + at + period, half) -
				   sum * (s->sums[at + 2 * period] - s->sums[at + period]) / n;
			pairs++;
		}
	}
	if (rows < MEMORY_ROWS || !pairs || !(square > 0))
		return 1;
	r = fmin(MEMORY_MOST, product / (double)pairs / (square / (double)rows));
	return r > MEMORY_FLOOR ? (1 - r) / (1 + r) : 1;
}
