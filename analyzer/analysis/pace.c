/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pace.h"

#include <math.h>

#define FEWEST_CELLS 8
#define APART_STEPS  128  /* fewer may all lie between two meetings, or nearly */
#define APART_SHARE  0.03 /* the one takes longer by so much of a step, ... */
#define APART_ERRORS 3    /* ... and by so many standard errors of it */

void pace_add(struct pace *pace, double step_ns)
{
	pace->rest_ns += (float)step_ns;
	if (++pace->rest < UINT32_C(1) << pace->shift)
		return;
	pace->cells[pace->count++] = pace->rest_ns;
	pace->rest_ns = 0;
	pace->rest = 0;
	if (pace->count < PACE_CELLS)
		return;
	pace->count /= 2;
	pace->shift++;
	for (uint32_t i = 0; i < pace->count; i++)
		pace->cells[i] = pace->cells[2 * i] + pace->cells[2 * i + 1];
}

/* Of cells as wide as 1 << shift steps. */
static double cell_of(const struct pace *pace, uint32_t shift, uint32_t i)
{
	const uint32_t each = UINT32_C(1) << (shift - pace->shift);
	double ns = 0;

	for (uint32_t k = i * each; k < (i + 1) * each; k++)
		ns += (double)pace->cells[k];
	return ns;
}

double pace_lead(const struct pace *one, const struct pace *other)
{
	const uint32_t shift = one->shift > other->shift ? one->shift : other->shift;
	const uint32_t mine = one->count >> (shift - one->shift);
	const uint32_t its = other->count >> (shift - other->shift);
	const uint32_t count = mine < its ? mine : its;
	const double n = count, steps = ldexp(n, (int)shift);
	double sum = 0, squares = 0, all = 0, least = 0, most = 0, mean, error;

	if (count < FEWEST_CELLS)
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		const double a = cell_of(one, shift, i), b = cell_of(other, shift, i);

		sum += a - b;
		squares += (a - b) * (a - b);
		all += (a + b) / 2;
		least = fmin(least, sum);
		most = fmax(most, sum);
	}
	if (!(all > 0))
		return 0;
	mean = sum / n;
	error = sqrt(fmax(squares / n - mean * mean, 0) / n);
	if (steps >= APART_STEPS && fabs(sum) >= APART_SHARE * all &&
	    fabs(mean) >= APART_ERRORS * error)
		return INFINITY;
	return (most - least) / all * steps;
}
