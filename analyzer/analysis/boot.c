/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/boot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/stats.h"

#define RESAMPLES        400
#define MOST_CELLS       16384
#define DEFAULT_PREFETCH 2
#define DEFAULT_WORKERS  8
#define SEED             UINT64_C(0x243f6a8885a308d3)

/* Sums before each cell of the steady batches, twice around so that no block has to wrap. */
struct cells {
	size_t count;
	size_t size; /* batches a cell */
	double *stall_ns;
	double *time_ns;
};

static void fill(const struct batch_series *s, const struct finding *f, struct cells *cells)
{
	const float *waits = stall_waits(s, f);
	double stall_ns = 0, time_ns = 0;
	size_t cell = 0, left = 0, i;

	for (i = 0; i < s->count; i++) {
		if (!(s->state[i] & SERIES_STEADY))
			continue;
		if (!left--) {
			cells->stall_ns[cell] = stall_ns;
			cells->time_ns[cell++] = time_ns;
			left = cells->size - 1;
		}
		if (s->state[i] & SERIES_STARVED)
			stall_ns += (double)waits[i];
		time_ns += (double)s->wait_ns[i] + (double)s->compute_ns[i];
	}
	for (i = cells->count; i <= 2 * cells->count; i++) {
		cells->stall_ns[i] = i == 2 * cells->count
					     ? 2 * stall_ns
					     : stall_ns + cells->stall_ns[i - cells->count];
		cells->time_ns[i] = i == 2 * cells->count
					    ? 2 * time_ns
					    : time_ns + cells->time_ns[i - cells->count];
	}
}

static double resample(const struct cells *cells, size_t block, uint64_t *state)
{
	double stall_ns = 0, time_ns = 0;
	size_t left = cells->count;

	while (left) {
		size_t take = block < left ? block : left;
		size_t begin = (size_t)((stats_random(state) >> 32) * cells->count >> 32);

		stall_ns += cells->stall_ns[begin + take] - cells->stall_ns[begin];
		time_ns += cells->time_ns[begin + take] - cells->time_ns[begin];
		left -= take;
	}
	return time_ns > 0 ? stall_ns / time_ns : 0;
}

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

size_t boot_block(const struct batch_series *s)
{
	size_t workers = s->workers > 0 ? (size_t)s->workers : s->workers ? DEFAULT_WORKERS : 1;
	size_t prefetch = s->prefetch_factor > 0 ? (size_t)s->prefetch_factor : DEFAULT_PREFETCH;

	return 2 * prefetch * workers;
}

int boot_stall_ratio(const struct batch_series *s, const struct finding *f, struct boot *ret)
{
	struct stats_moments moments = {0};
	struct cells cells = {.size = f->steady_count / MOST_CELLS + 1};
	double ratios[RESAMPLES];
	uint64_t state = SEED;
	size_t block, i;

	*ret = (struct boot){NAN, NAN, NAN, NAN};
	if (f->gap != STALL_GAP_NONE)
		return 0;
	/* A last cell that is not full would weigh as much as the others. */
	cells.count = f->steady_count / cells.size;
	cells.stall_ns = malloc((2 * cells.count + 2) * sizeof(*cells.stall_ns));
	cells.time_ns = malloc((2 * cells.count + 2) * sizeof(*cells.time_ns));
	if (!cells.stall_ns || !cells.time_ns) {
		free(cells.stall_ns);
		free(cells.time_ns);
		return -ENOMEM;
	}
	fill(s, f, &cells);
	block = (boot_block(s) + cells.size - 1) / cells.size;
	if (block > cells.count)
		block = cells.count;
	for (i = 0; i < RESAMPLES; i++) {
		ratios[i] = resample(&cells, block, &state);
		stats_add(&moments, ratios[i]);
	}
	qsort(ratios, RESAMPLES, sizeof(*ratios), by_value);
	*ret = (struct boot){
		.low95 = ratios[RESAMPLES / 40],
		.high95 = ratios[RESAMPLES - 1 - RESAMPLES / 40],
		.low99 = ratios[RESAMPLES / 100],
		.error = stats_deviation(&moments),
	};
	free(cells.stall_ns);
	free(cells.time_ns);
	return 0;
}
