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

/*
 * Sums before each cell of the batches, twice around so that no block has to wrap. A batch's cell
 * holds its wait and its step, an epoch's first one also what it took to begin and to end it.
 */
struct cells {
	size_t count;
	size_t size; /* batches a cell */
	double *wait_ns;
	double *step_ns;
};

static double time_of(const float *column, size_t i)
{
	return column && column[i] >= 0 ? (double)column[i] : 0;
}

static void fill(const struct batch_series *s, const struct finding *f, struct cells *cells)
{
	const float *waits = stall_waits(s, f);
	double wait_ns = 0, step_ns = 0;
	size_t cell = 0, left = 0, run = 0, epoch = 0, i;

	for (i = 0; i < s->count; i++) {
		if (!left--) {
			if (cell == cells->count)
				break;
			cells->wait_ns[cell] = wait_ns;
			cells->step_ns[cell++] = step_ns;
			left = cells->size - 1;
		}
		run += run + 1 < s->run_count && s->runs[run + 1].begin == i;
		for (; epoch < s->epoch_count && s->epochs[epoch].epoch <= s->runs[run].epoch;
		     epoch++)
			if (epoch > 0)
				wait_ns += fmax((double)s->epochs[epoch].setup_ns, 0) +
					   fmax((double)s->epochs[epoch - 1].stop_ns, 0);
		if (i > 0 || s->is_part)
			wait_ns += time_of(waits, i);
		step_ns += stall_demand_ns(s, f, i);
	}
	for (i = cells->count; i <= 2 * cells->count; i++) {
		bool is_end = i == 2 * cells->count;

		cells->wait_ns[i] = wait_ns + (is_end ? wait_ns : cells->wait_ns[i - cells->count]);
		cells->step_ns[i] = step_ns + (is_end ? step_ns : cells->step_ns[i - cells->count]);
	}
}

/* About normal, of mean 0 and deviation 1: the sum of twelve. */
static double draw_normal(uint64_t *state)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double)(stats_random(state) >> 11) / 9007199254740992.0;
	return sum;
}

/* Waits and steps as another run of this length might have had them. */
static void resample(const struct cells *cells, size_t block, uint64_t *state, double *ret_wait_ns,
		     double *ret_step_ns)
{
	size_t left = cells->count;

	*ret_wait_ns = *ret_step_ns = 0;
	while (left) {
		size_t take = block < left ? block : left;
		size_t begin = (size_t)((stats_random(state) >> 32) * cells->count >> 32);

		*ret_wait_ns += cells->wait_ns[begin + take] - cells->wait_ns[begin];
		*ret_step_ns += cells->step_ns[begin + take] - cells->step_ns[begin];
		left -= take;
	}
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

static int make_cells(const struct batch_series *s, const struct finding *f, struct cells *ret)
{
	*ret = (struct cells){.size = s->count / MOST_CELLS + 1};
	/* A last cell that is not full would weigh as much as the others. */
	ret->count = s->count / ret->size;
	ret->wait_ns = malloc((2 * ret->count + 2) * sizeof(*ret->wait_ns));
	ret->step_ns = malloc((2 * ret->count + 2) * sizeof(*ret->step_ns));
	if (!ret->wait_ns || !ret->step_ns) {
		free(ret->wait_ns);
		free(ret->step_ns);
		return -ENOMEM;
	}
	fill(s, f, ret);
	return 0;
}

static void free_cells(struct cells *cells)
{
	free(cells->wait_ns);
	free(cells->step_ns);
}

/* In cells. */
static size_t block_of(const struct batch_series *s, const struct cells *cells)
{
	size_t block = (boot_block(s) + cells->size - 1) / cells->size;

	return block < cells->count ? block : cells->count;
}

int boot_wait_error(const struct batch_series *s, const struct finding *f, double *ret_ns)
{
	struct stats_moments moments = {0};
	uint64_t state = SEED;
	double wait_ns, step_ns;
	struct cells cells;
	int i, r;

	*ret_ns = 0;
	r = s->count ? make_cells(s, f, &cells) : -ENODATA;
	if (r < 0)
		return r == -ENODATA ? 0 : r;
	for (i = 0; i < RESAMPLES; i++) {
		resample(&cells, block_of(s, &cells), &state, &wait_ns, &step_ns);
		stats_add(&moments, wait_ns);
	}
	free_cells(&cells);
	*ret_ns = stats_deviation(&moments);
	return 0;
}

int boot_stall_ratio(const struct batch_series *s, const struct finding *f, struct boot *ret)
{
	double own_ns, others_ns, step_factor, ratios[RESAMPLES];
	struct stats_moments moments = {0};
	uint64_t state = SEED;
	struct cells cells;
	int i, r;

	*ret = (struct boot){NAN, NAN, NAN, NAN};
	if (f->gap != STALL_GAP_NONE)
		return 0;
	r = make_cells(s, f, &cells);
	if (r < 0)
		return r;
	/* What the account has besides the cells, such as other loaders, stays; steps go along. */
	own_ns = cells.wait_ns[cells.count];
	others_ns = f->account.wait_ns - own_ns;
	step_factor = f->account.step_ns / fmax(cells.step_ns[cells.count], 1);
	for (i = 0; i < RESAMPLES; i++) {
		double wait_ns, step_ns;

		resample(&cells, block_of(s, &cells), &state, &wait_ns, &step_ns);
		wait_ns += others_ns;
		if (f->others_error_ns > 0)
			wait_ns += f->others_error_ns * draw_normal(&state);
		wait_ns = fmax(wait_ns, 0);
		step_ns *= step_factor;
		ratios[i] = wait_ns + step_ns > 0 ? wait_ns / (wait_ns + step_ns) : 0;
		stats_add(&moments, ratios[i]);
	}
	free_cells(&cells);
	qsort(ratios, RESAMPLES, sizeof(*ratios), by_value);
	*ret = (struct boot){
		.low95 = ratios[RESAMPLES / 40],
		.high95 = ratios[RESAMPLES - 1 - RESAMPLES / 40],
		.low99 = ratios[RESAMPLES / 100],
		.error = stats_deviation(&moments),
	};
	return 0;
}
