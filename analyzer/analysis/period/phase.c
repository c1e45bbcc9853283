/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/period/phase.h"

#include <math.h>
#include <string.h>

#define BLOCK         8 /* rows in a block: half of them choose the phase, half measure it */
#define PROMOTE_SHARE 0.85
#define PROMOTE_LEAST 6 /* a block should hold at least this many events */

static double add_rows(const struct phase_series *s, size_t begin, size_t rows, size_t step,
		       size_t period, bool capped, double *phases)
{
	double sum = 0;

	for (size_t row = 0; row < rows; row += step) {
		for (size_t k = 0; k < period; k++) {
			double ns = (double)s->ns[begin + row * period + k];

			if (capped && ns > s->cap_ns)
				ns = s->cap_ns;
			phases[k] += ns;
			sum += ns;
		}
	}
	return sum;
}

static size_t highest(const double *values, size_t count)
{
	size_t best = 0, i;

	for (i = 1; i < count; i++)
		if (values[i] > values[best])
			best = i;
	return best;
}

/* Copies the times of the best phase of `period`: k phases in rows of k periods. Returns a sum. */
static double split(const double *phases, size_t period, size_t k, double *ret)
{
	double sum = 0;

	for (size_t phase = 0; phase < period; phase++) {
		double here = 0;

		for (size_t j = 0; j < k; j++)
			here += phases[phase + j * period];
		if (here <= sum)
			continue;
		sum = here;
		for (size_t j = 0; j < k; j++)
			ret[j] = phases[phase + j * period];
	}
	return sum;
}

bool phase_is_multiple(const struct phase_series *s, size_t period, size_t k, double *scratch)
{
	size_t wide = period * k, rows_a_block = BLOCK, rows = 0, i, row;
	double weight = 0, dominant = 0, events;

	for (i = 0; i < s->segment_count; i++)
		rows += s->segments[i].count / wide;
	if (rows < 3)
		return false;
	events = s->event_share * (double)wide;
	if (events * BLOCK < PROMOTE_LEAST)
		rows_a_block = (size_t)ceil(PROMOTE_LEAST / events);
	for (i = 0; i < s->segment_count; i++) {
		const struct fold_segment *segment = &s->segments[i];
		size_t begin = segment->begin + fold_first_row(segment, wide);
		size_t end = segment->begin + segment->count;

		for (; begin + wide <= end; begin += row * wide) {
			double sums[PHASE_PROMOTE_MOST] = {0};

			row = (end - begin) / wide;
			row = row < rows_a_block ? row : rows_a_block;
			memset(scratch, 0, wide * sizeof(*scratch));
			add_rows(s, begin, row, 1, wide, true, scratch);
			weight += split(scratch, period, k, sums);
			dominant += sums[highest(sums, k)];
		}
	}
	return weight > 0 && dominant > PROMOTE_SHARE * weight;
}

double phase_share(const struct phase_series *s, size_t period, double *scratch, size_t *ret_phase)
{
	double *choose = scratch, *check = scratch + period, *totals = check + period;
	double at_phase = 0, all = 0;
	size_t i, k, rows, half;

	memset(totals, 0, period * sizeof(*totals));
	for (i = 0; i < s->segment_count; i++) {
		const struct fold_segment *segment = &s->segments[i];
		size_t begin = segment->begin + fold_first_row(segment, period);
		size_t end = segment->begin + segment->count;

		for (; begin + 2 * period <= end; begin += rows * period) {
			rows = (end - begin) / period;
			rows = rows < BLOCK ? rows : BLOCK;
			for (half = 0; half < 2; half++) {
				memset(scratch, 0, 2 * period * sizeof(*scratch));
				add_rows(s, begin + half * period, rows - half, 2, period, false,
					 choose);
				all += add_rows(s, begin + (1 - half) * period, rows - (1 - half),
						2, period, false, check);
				at_phase += check[highest(choose, period)];
				for (k = 0; k < period; k++)
					totals[k] += check[k];
			}
		}
	}
	*ret_phase = highest(totals, period);
	return all > 0 ? at_phase / all : 0;
}
