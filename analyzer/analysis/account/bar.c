/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/account/bar.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct bar bar_of(const struct batch_series *s, size_t begin, size_t end)
{
	struct bar bar = {.begin = begin, .end = end};
	const float *rest = s->compute_ns ? s->compute_ns : s->step_ns;
	size_t count = 0, busy_count = 0, i;

	for (i = begin; i < end; i++) {
		double wait = series_time(s->wait_ns, i), compute = series_time(rest, i);

		/* The last batch of an epoch has a wait but no step; it still counts. */
		if (!series_has(s->wait_ns, i) && !series_has(rest, i))
			continue;
		bar.wait_ns += wait;
		bar.compute_ns += compute;
		bar.most_ns = fmax(bar.most_ns, wait + compute);
		count++;
		if (series_has(s->gpu_busy_ns, i)) {
			bar.busy_ns += (double)s->gpu_busy_ns[i];
			busy_count++;
		}
	}
	bar.wait_ns = count ? bar.wait_ns / (double)count : NAN;
	bar.compute_ns = count ? bar.compute_ns / (double)count : NAN;
	bar.busy_ns = busy_count ? bar.busy_ns / (double)busy_count : NAN;
	return bar;
}

int bars_of(const struct batch_series *s, size_t most, struct bar **ret, size_t *ret_count)
{
	size_t each = (s->count + most - 1) / most, count, i;

	*ret = NULL;
	*ret_count = 0;
	if (!s->count)
		return 0;
	count = (s->count + each - 1) / each;
	*ret = malloc(count * sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	*ret_count = count;
	for (i = 0; i < count; i++)
		(*ret)[i] = bar_of(s, i * each, i + 1 < count ? (i + 1) * each : s->count);
	return 0;
}
