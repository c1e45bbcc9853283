/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/predict/trace.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define FACTOR_LEAST 0.15
#define FACTOR_Z     3.0

int trace_make_room(struct trace *t, size_t count)
{
	bool is_made;

	t->worker = malloc(count * sizeof(*t->worker));
	is_made = t->worker != NULL;
	for (size_t k = 0; k < TRACE_TIMES; k++) {
		t->times[k] = malloc(count * sizeof(*t->times[k]));
		is_made &= t->times[k] != NULL;
	}
	return is_made ? 0 : -ENOMEM;
}

static double lower_median(const float *values, size_t count)
{
	struct stats_order order;

	stats_order_init(&order, &(struct stats_column){.values = values, .count = count});
	return stats_order_quantile(&order, 0.5);
}

static size_t pick(const struct trace *trace, int16_t which, float *scratch,
		   struct stats_moments *logs)
{
	size_t count = 0, i;

	for (i = 0; i < trace->count; i++) {
		if (trace->worker[i] != which)
			continue;
		scratch[count++] = trace->load_ns[i];
		if (trace->load_ns[i] > 0)
			stats_add(logs, log((double)trace->load_ns[i]));
	}
	return count;
}

/*
 * Returns true if the workers' load times, relative to one another, repeat with a period shorter
 * than W, the number of workers. Batch i goes to worker i mod W, so the data are then the reason.
 */
static bool is_by_index(const double *factors, size_t workers)
{
	size_t period, i;
	bool differ = false;

	for (i = 1; i < workers; i++)
		differ |= fabs(factors[i] / factors[0] - 1) > FACTOR_LEAST;
	for (period = 2; differ && period < workers; period++) {
		if (workers % period)
			continue;
		for (i = period; i < workers; i++)
			if (fabs(factors[i] / factors[i - period] - 1) > FACTOR_LEAST)
				break;
		if (i == workers)
			return true;
	}
	return false;
}

int trace_find_factors(struct trace *trace, size_t workers)
{
	struct stats_moments *logs = calloc(workers, sizeof(*logs)), middle = {0};
	float *medians = calloc(workers, sizeof(*medians));
	float *scratch = malloc((trace->count + 1) * sizeof(*scratch));
	double reference;
	size_t i, at;
	int r = -ENOMEM;

	trace->factors = malloc(workers * sizeof(*trace->factors));
	if (!logs || !medians || !scratch || !trace->factors)
		goto out;
	trace->factor_count = workers;
	for (i = 0; i < workers; i++) {
		size_t count = pick(trace, (int16_t)i, scratch, &logs[i]);

		trace->factors[i] = 1;
		medians[i] = (float)lower_median(scratch, count);
	}
	/* A worker without loads has the median NAN, which is never the reference. */
	reference = lower_median(medians, workers);
	for (i = 0; i < workers; i++)
		if ((double)medians[i] == reference)
			middle = logs[i];
	for (i = 0; reference > 0 && i < workers; i++) {
		double factor = (double)medians[i] / reference;

		if (fabs(factor - 1) > FACTOR_LEAST &&
		    fabs(stats_welch(&logs[i], &middle)) >= FACTOR_Z)
			trace->factors[i] = factor;
	}
	trace->by_index = is_by_index(trace->factors, workers);
	trace->is_either = trace->by_index || workers == 2;
	for (at = 0; at < trace->count; at++) {
		int16_t which = trace->worker[at];

		if (which >= 0 && (size_t)which < workers && trace->factors[which] > 0)
			trace->load_ns[at] /= (float)trace->factors[which];
	}
	r = 0;
out:
	free(logs);
	free(medians);
	free(scratch);
	return r;
}

int trace_copy(const struct trace *trace, struct trace *ret)
{
	int r;

	*ret = *trace;
	r = trace_make_room(ret, trace->count);
	ret->epochs = malloc(trace->epoch_count * sizeof(*ret->epochs));
	ret->factors = NULL;
	if (r < 0 || !ret->epochs)
		return -ENOMEM;
	ret->epochs[0] = trace->epochs[0];
	return 0;
}

/* Blocks begin at multiples of their length, so that batches that alternate still alternate. */
void trace_draw(const struct trace *trace, size_t block, uint64_t *state, struct trace *ret)
{
	size_t blocks = trace->count / block, from = 0, i, e, k;

	for (i = 0; i < trace->count; i++, from = from + 1 < trace->count ? from + 1 : 0) {
		if (i % block == 0)
			from = (size_t)((stats_random(state) >> 32) * blocks >> 32) * block;
		for (k = 0; k < TRACE_TIMES; k++)
			ret->times[k][i] = trace->times[k][from];
		ret->worker[i] = trace->worker[from];
	}
	/* The first epoch starts unlike later epochs, so its start is not drawn for later ones. */
	for (e = 1; e < trace->epoch_count; e++) {
		from = 1 + (size_t)((stats_random(state) >> 32) * (trace->epoch_count - 1) >> 32);
		ret->epochs[e] = trace->epochs[from];
		ret->epochs[e].begin = trace->epochs[e].begin;
	}
}

void trace_done(struct trace *trace)
{
	for (size_t k = 0; k < TRACE_TIMES; k++)
		free(trace->times[k]);
	free(trace->worker);
	free(trace->epochs);
	free(trace->factors);
	*trace = (struct trace){0};
}

bool trace_has_sampling(const struct trace *trace)
{
	bool has = trace->sample_ns > 0;

	for (size_t e = 0; e < trace->epoch_count; e++)
		has |= trace->epochs[e].sample_ns > 0;
	return has;
}

bool trace_has_slow_worker(const struct trace *trace)
{
	for (size_t i = 0; i < trace->factor_count; i++)
		if (trace->factors[i] > 1)
			return true;
	return false;
}
