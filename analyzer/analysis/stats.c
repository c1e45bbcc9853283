/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stats.h"

#include <math.h>

static void swap(int64_t *a, int64_t *b)
{
	int64_t t = *a;

	*a = *b;
	*b = t;
}

/* A fixed sequence: the same input gives the same steps, and no input can be made slow by chance.
 */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

int64_t stats_select(int64_t *values, size_t count, size_t rank)
{
	uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
	size_t low = 0, high = count;

	while (high - low > 1) {
		int64_t pivot = values[low + next_random(&state) % (high - low)];
		size_t less = low, at = low, more = high;

		/* Three ways, so that many equal values (zero waits) stay linear. */
		while (at < more) {
			if (values[at] < pivot)
				swap(&values[less++], &values[at++]);
			else if (values[at] > pivot)
				swap(&values[at], &values[--more]);
			else
				at++;
		}
		if (rank < less)
			high = less;
		else if (rank >= more)
			low = more;
		else
			break;
	}
	return values[rank];
}

double stats_median(int64_t *values, size_t count)
{
	int64_t upper = stats_select(values, count, count / 2);
	int64_t lower;
	size_t i;

	if (count % 2)
		return (double)upper;
	lower = values[0];
	for (i = 1; i < count / 2; i++)
		if (values[i] > lower)
			lower = values[i];
	return ((double)lower + (double)upper) / 2;
}

int64_t stats_quantile(int64_t *values, size_t count, double share)
{
	double place = ceil(share * (double)count);
	size_t rank = place < 1 ? 0 : (size_t)place - 1;

	return stats_select(values, count, rank < count ? rank : count - 1);
}

double stats_sum_largest(int64_t *values, size_t count, size_t top)
{
	double sum = 0;
	size_t i;

	if (top > count)
		top = count;
	if (!top)
		return 0;
	stats_select(values, count, count - top);
	for (i = count - top; i < count; i++)
		sum += (double)values[i];
	return sum;
}

void stats_add(struct stats_moments *moments, double value)
{
	double delta = value - moments->mean;

	moments->count++;
	moments->mean += delta / (double)moments->count;
	moments->squares += delta * (value - moments->mean);
}

double stats_cv(const struct stats_moments *moments)
{
	if (moments->count < 2 || moments->mean == 0)
		return NAN;
	return sqrt(moments->squares / (double)(moments->count - 1)) / moments->mean;
}
