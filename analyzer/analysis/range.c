/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/range.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/crowd.h"
#include "analysis/stats.h"

#define RESAMPLES    100
#define MOST_WORKERS 64 /* more take more time than it is worth */
#define WANT_LESS    0.5
#define WANT_MORE    1.5
#define SEED         UINT64_C(0x13198a2e03707344)

/* How far below and above, as logarithms: 0 at least. */
struct error {
	double low, high;
};

static void add(struct error *e, double low, double high)
{
	if (low > 0)
		e->low = hypot(e->low, low);
	if (high > 0)
		e->high = hypot(e->high, high);
}

/* Blocks begin where a block may begin, so that what alternates goes on to. */
static void draw(const struct trace *trace, size_t block, uint64_t *state, struct trace *ret)
{
	size_t blocks = trace->count / block, from = 0, i, e;

	for (i = 0; i < trace->count; i++, from = from + 1 < trace->count ? from + 1 : 0) {
		if (i % block == 0)
			from = (size_t)((stats_random(state) >> 32) * blocks >> 32) * block;
		ret->load_ns[i] = trace->load_ns[from];
		ret->compute_ns[i] = trace->compute_ns[from];
		ret->lag_ns[i] = trace->lag_ns[from];
		ret->latency_ns[i] = trace->latency_ns[from];
		ret->handover_ns[i] = trace->handover_ns[from];
		ret->worker[i] = trace->worker[from];
	}
	/* The first start is another matter: that of the run. */
	for (e = 1; e < trace->epoch_count; e++) {
		from = 1 + (size_t)((stats_random(state) >> 32) * (trace->epoch_count - 1) >> 32);
		ret->epochs[e] = trace->epochs[from];
		ret->epochs[e].begin = trace->epochs[e].begin;
	}
}

static bool is_wanted(const struct whatif *whatif, int id)
{
	return !isnan(whatif->batches_per_s[id]) && whatif->setups[id].workers <= MOST_WORKERS;
}

static int trace_copy(const struct trace *trace, struct trace *ret)
{
	*ret = *trace;
	ret->load_ns = malloc(trace->count * sizeof(*ret->load_ns));
	ret->compute_ns = malloc(trace->count * sizeof(*ret->compute_ns));
	ret->lag_ns = malloc(trace->count * sizeof(*ret->lag_ns));
	ret->latency_ns = malloc(trace->count * sizeof(*ret->latency_ns));
	ret->handover_ns = malloc(trace->count * sizeof(*ret->handover_ns));
	ret->worker = malloc(trace->count * sizeof(*ret->worker));
	ret->epochs = malloc(trace->epoch_count * sizeof(*ret->epochs));
	ret->factors = NULL;
	if (!ret->load_ns || !ret->compute_ns || !ret->lag_ns || !ret->latency_ns ||
	    !ret->handover_ns || !ret->worker || !ret->epochs)
		return -ENOMEM;
	ret->epochs[0] = trace->epochs[0];
	return 0;
}

/* What chance does, to the replay without shared cores, which is many times as fast. */
static int add_chance(const struct trace *trace, const struct whatif *whatif, int first, int end,
		      struct error *errors)
{
	const struct replay_setup *now = &whatif->setups[WHATIF_BASELINE];
	size_t block = 2 * (size_t)now->prefetch_factor * (size_t)(now->workers ? now->workers : 1);
	double(*rates)[RESAMPLES] = malloc((size_t)(end - first) * sizeof(*rates));
	uint64_t state = SEED;
	struct trace drawn;
	int r = trace_copy(trace, &drawn), id, i;

	if (block > trace->count)
		block = trace->count;
	if (!rates)
		r = -ENOMEM;
	drawn.factors = trace->factors;
	for (i = 0; r == 0 && i < RESAMPLES; i++) {
		draw(trace, block, &state, &drawn);
		for (id = first; id < end; id++)
			if (is_wanted(whatif, id))
				rates[id - first][i] =
					replay_run(&drawn, &whatif->setups[id]).batches_per_s;
	}
	for (id = first; r == 0 && id < end; id++) {
		double *sorted = rates[id - first], middle;

		if (!is_wanted(whatif, id))
			continue;
		stats_sort(sorted, RESAMPLES);
		middle = sorted[RESAMPLES / 2];
		add(&errors[id], log(middle / sorted[RESAMPLES / 40]),
		    log(sorted[RESAMPLES - 1 - RESAMPLES / 40] / middle));
	}
	drawn.factors = NULL;
	trace_done(&drawn);
	free(rates);
	return r;
}

static void add_neighbours(const struct trace *trace, const struct whatif *whatif, int id,
			   struct error *error)
{
	const struct replay_setup *setup = &whatif->setups[id];
	double rate = whatif->batches_per_s[id];

	if (!(whatif->others_cores > 0) || !crowd_matters(trace, setup))
		return;
	add(error, log(rate / whatif_own_per_s(trace, setup, WANT_MORE, whatif)),
	    log(whatif_own_per_s(trace, setup, WANT_LESS, whatif) / rate));
}

/* The slow ones may be the data's, or the worker's. */
static double rate_otherwise(const struct trace *trace, const struct whatif *whatif, int id)
{
	struct replay_setup setup = whatif->setups[id];

	if (!trace->is_either || setup.slow == REPLAY_SLOW_NONE || id == WHATIF_BASELINE)
		return whatif->batches_per_s[id];
	setup.slow = setup.slow == REPLAY_SLOW_INDEX ? REPLAY_SLOW_WORKER : REPLAY_SLOW_INDEX;
	return whatif_own_per_s(trace, &setup, 1, whatif);
}

int range_find(const struct trace *trace, struct whatif *whatif, int first, int end)
{
	struct error errors[WHATIF_ROOM] = {0};
	int r = 0, id;

	if (trace->count <= RANGE_LONGEST && first < end)
		r = add_chance(trace, whatif, first, end, errors);
	for (id = first; r == 0 && id < end; id++) {
		double rate = whatif->batches_per_s[id], other, model;

		if (isnan(rate))
			continue;
		model = RANGE_LEAST + fabs(log1p(whatif->off)) +
			RANGE_PART * fabs(log(rate / whatif->own_per_s));
		add(&errors[id], model, model);
		add_neighbours(trace, whatif, id, &errors[id]);
		other = rate_otherwise(trace, whatif, id);
		whatif->low_per_s[id] = fmin(rate, other) * exp(-errors[id].low);
		whatif->high_per_s[id] = fmax(rate, other) * exp(errors[id].high);
	}
	return r;
}
