/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/range.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/stats.h"

#define RESAMPLES    100
#define REPLAY_COUNT 1000 /* chance is in what is drawn, not in how often it is repeated */
#define MOST_WORKERS 64   /* more take more time than it is worth */
#define SEED         UINT64_C(0x13198a2e03707344)

static void draw(const struct trace *trace, size_t block, uint64_t *state, struct trace *ret)
{
	size_t from = 0, i;

	for (i = 0; i < trace->count; i++, from = (from + 1) % trace->count) {
		if (i % block == 0)
			from = (size_t)((stats_random(state) >> 32) * trace->count >> 32);
		ret->load_ns[i] = trace->load_ns[from];
		ret->compute_ns[i] = trace->compute_ns[from];
	}
}

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

static bool is_wanted(const struct whatif *whatif, int id)
{
	return !isnan(whatif->batches_per_s[id]) && whatif->setups[id].workers <= MOST_WORKERS;
}

/* Under the same limit as the prediction itself. */
static double rate_of(const struct trace *trace, const struct whatif *whatif, int id)
{
	double floor_per_s =
		id == WHATIF_BASELINE ? INFINITY : whatif->batches_per_s[WHATIF_BASELINE];

	return replay_run(trace, &whatif->setups[id], floor_per_s).batches_per_s;
}

int range_find(const struct trace *trace, struct whatif *whatif, int first, int end)
{
	const struct replay_setup *now = &whatif->setups[WHATIF_BASELINE];
	size_t block = 2 * (size_t)now->prefetch_factor * (size_t)(now->workers ? now->workers : 1);
	double(*rates)[RESAMPLES] = NULL;
	struct trace drawn = *trace;
	uint64_t state = SEED;
	int r = -ENOMEM, id, i;

	if (trace->count > RANGE_LONGEST || first == end)
		return 0;
	if (block > trace->count)
		block = trace->count;
	rates = malloc((size_t)(end - first) * sizeof(*rates));
	drawn.replay_count = REPLAY_COUNT;
	drawn.load_ns = malloc((trace->count + 1) * sizeof(float));
	drawn.compute_ns = malloc((trace->count + 1) * sizeof(float));
	if (!rates || !drawn.load_ns || !drawn.compute_ns)
		goto out;
	for (i = 0; i < RESAMPLES; i++) {
		draw(trace, block, &state, &drawn);
		for (id = first; id < end; id++)
			if (is_wanted(whatif, id))
				rates[id - first][i] = rate_of(&drawn, whatif, id);
	}
	for (id = first; id < end; id++) {
		if (!is_wanted(whatif, id))
			continue;
		qsort(rates[id - first], RESAMPLES, sizeof(double), by_value);
		whatif->low_per_s[id] = rates[id - first][RESAMPLES / 40];
		whatif->high_per_s[id] = rates[id - first][RESAMPLES - 1 - RESAMPLES / 40];
	}
	r = 0;
out:
	free(rates);
	free(drawn.load_ns);
	free(drawn.compute_ns);
	return r;
}
