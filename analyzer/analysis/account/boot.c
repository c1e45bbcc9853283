/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/account/boot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/statistics/stats.h"

#define RESAMPLES        400
#define MOST_CELLS       16384
#define FEWEST_BLOCKS    10 /* with fewer blocks no variance is estimated */
#define DEFAULT_WORKERS  8
#define SEED             UINT64_C(0x243f6a8885a308d3)

/* Parts of the run. wait_ns[i] and step_ns[i] are sums over the first i cells. The list of cells is
 * there twice, because a block that is drawn may go on from the last cell to the first. */
struct cells {
	size_t count;
	size_t size; /* batches or epochs in each cell */
	size_t added;
	double *wait_ns;
	double *step_ns;
};

/* Batches and epoch starts are drawn separately, so each draw has as many epochs as the run. */
struct strata {
	struct cells batches, epochs;
	size_t block; /* cells in a block of batches */
};

static int begin_cells(struct cells *cells, size_t items)
{
	cells->size = items / MOST_CELLS + 1;
	/* Items after the last full cell are left out: a partial cell would weigh too much. */
	cells->count = items / cells->size;
	cells->wait_ns = calloc(2 * cells->count + 2, sizeof(*cells->wait_ns));
	cells->step_ns = calloc(2 * cells->count + 2, sizeof(*cells->step_ns));
	return cells->wait_ns && cells->step_ns ? 0 : -ENOMEM;
}

static void add(struct cells *cells, double wait_ns, double step_ns)
{
	size_t cell = cells->added / cells->size;

	if (cell == cells->count)
		return;
	cells->wait_ns[cell + 1] += wait_ns;
	cells->step_ns[cell + 1] += step_ns;
	cells->added++;
}

static void sum_up(double *ns, size_t count)
{
	for (size_t i = 1; i <= 2 * count; i++)
		ns[i] = ns[i - 1] + (i <= count ? ns[i] : ns[i - count] - ns[i - count - 1]);
}

static void end_cells(struct cells *cells)
{
	sum_up(cells->wait_ns, cells->count);
	sum_up(cells->step_ns, cells->count);
}

static void fill(const struct batch_series *s, const struct finding *f, struct strata *strata)
{
	const int64_t first = account_start_count(s->workers);
	const float *waits = stall_waits(s, f);
	struct series_place at = SERIES_BEGIN;
	double start_wait_ns = 0, start_step_ns = 0;
	bool is_counted = false;
	size_t next = 0;

	while (series_next(s, &at)) {
		double wait_ns = series_time(waits, at.i), step_ns = stall_demand_ns(s, f, at.i);

		if (at.is_new) {
			struct account_restart restart = account_restart(s, &next, at.epoch);

			if (is_counted)
				add(&strata->epochs, start_wait_ns, start_step_ns);
			is_counted = at.i > 0;
			start_wait_ns = restart.start_ns + restart.end_ns;
			start_step_ns = 0;
		}
		if (at.batch < first) {
			start_wait_ns += wait_ns;
			start_step_ns += step_ns;
		} else {
			add(&strata->batches, wait_ns, step_ns);
		}
	}
	if (is_counted)
		add(&strata->epochs, start_wait_ns, start_step_ns);
	end_cells(&strata->batches);
	end_cells(&strata->epochs);
}

/* Returns a nearly normal random number of mean 0 and standard deviation 1. */
static double draw_normal(uint64_t *state)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double)(stats_random(state) >> 11) / 9007199254740992.0;
	return sum;
}

static void resample(const struct cells *cells, size_t block, uint64_t *state, double *wait_ns,
		     double *step_ns)
{
	size_t left = cells->count;

	while (left) {
		size_t take = block < left ? block : left;
		size_t begin = (size_t)((stats_random(state) >> 32) * cells->count >> 32);

		*wait_ns += cells->wait_ns[begin + take] - cells->wait_ns[begin];
		*step_ns += cells->step_ns[begin + take] - cells->step_ns[begin];
		left -= take;
	}
}

/* Returns the 1 % point of Student's t divided by that of the normal distribution, at most 3. */
static double few_factor(size_t count)
{
	static const double factors[] = {3, 2.99, 1.95, 1.61, 1.45, 1.35, 1.29, 1.24, 1.21};

	if (count < 2)
		return 1;
	return count - 2 < ARRAY_COUNT(factors) ? factors[count - 2] : 1.1;
}

size_t boot_block(const struct batch_series *s)
{
	int32_t busy = series_busy_workers(s);
	size_t workers = busy > 0 ? (size_t)busy : busy ? DEFAULT_WORKERS : 1;

	return 2 * (size_t)series_prefetch(s) * workers;
}

static void count_items(const struct batch_series *s, size_t *ret_batches, size_t *ret_epochs)
{
	const int64_t first = account_start_count(s->workers);
	struct series_place at = SERIES_BEGIN;

	*ret_batches = *ret_epochs = 0;
	while (series_next(s, &at)) {
		*ret_epochs += at.is_new && at.i > 0;
		*ret_batches += at.batch >= first;
	}
}

static void free_strata(struct strata *strata)
{
	free(strata->batches.wait_ns);
	free(strata->batches.step_ns);
	free(strata->epochs.wait_ns);
	free(strata->epochs.step_ns);
}

static double block_variance(const struct cells *cells, size_t block)
{
	const size_t count = cells->count / block;
	double ratio = cells->wait_ns[cells->count] /
		       (cells->wait_ns[cells->count] + cells->step_ns[cells->count]);
	struct stats_moments moments = {0};

	for (size_t i = 0; i < count; i++) {
		size_t from = i * block, to = from + block;
		double wait_ns = cells->wait_ns[to] - cells->wait_ns[from];
		double step_ns = cells->step_ns[to] - cells->step_ns[from];

		stats_add(&moments, wait_ns - ratio * (wait_ns + step_ns));
	}
	return stats_deviation(&moments) * stats_deviation(&moments) / (double)block;
}

/* Tries blocks of 1, 2, 4, ... times boot_block(). Returns the one with most variance, in cells. */
static size_t block_of(const struct batch_series *s, const struct cells *cells)
{
	size_t block = (boot_block(s) + cells->size - 1) / cells->size, best, longer;
	double widest;

	if (block >= cells->count)
		return cells->count;
	widest = block_variance(cells, block);
	best = block;
	for (longer = 2 * block; cells->count / longer >= FEWEST_BLOCKS; longer *= 2) {
		double variance = block_variance(cells, longer);

		if (variance > widest) {
			widest = variance;
			best = longer;
		}
	}
	return best;
}

static int make_strata(const struct batch_series *s, const struct finding *f, struct strata *ret)
{
	size_t batches, epochs;
	int r;

	*ret = (struct strata){.batches = {.count = 0}};
	count_items(s, &batches, &epochs);
	r = begin_cells(&ret->batches, batches);
	if (r == 0)
		r = begin_cells(&ret->epochs, epochs);
	if (r < 0) {
		free_strata(ret);
		return r;
	}
	fill(s, f, ret);
	ret->block = block_of(s, &ret->batches);
	return 0;
}

struct draw {
	double wait_ns, step_ns;
	double epoch_wait_ns, epoch_step_ns;
};

static struct draw draw_one(const struct strata *strata, uint64_t *state)
{
	const struct cells *epochs = &strata->epochs;
	double count = (double)epochs->count;
	/* Draws from few epochs vary too little. Bessel's correction makes up for that. */
	double factor = count > 1 ? sqrt(count / (count - 1)) : 0;
	struct draw draw = {0};

	resample(&strata->batches, strata->block, state, &draw.wait_ns, &draw.step_ns);
	resample(epochs, 1, state, &draw.epoch_wait_ns, &draw.epoch_step_ns);
	draw.epoch_wait_ns = factor * (draw.epoch_wait_ns - epochs->wait_ns[epochs->count]);
	draw.epoch_step_ns = factor * (draw.epoch_step_ns - epochs->step_ns[epochs->count]);
	return draw;
}

int boot_wait_error(const struct batch_series *s, const struct finding *f, double *ret_ns)
{
	struct stats_moments moments = {0};
	uint64_t state = SEED;
	struct strata strata;
	int i, r;

	*ret_ns = 0;
	if (!s->count)
		return 0;
	r = make_strata(s, f, &strata);
	if (r < 0)
		return r;
	for (i = 0; i < RESAMPLES; i++) {
		struct draw draw = draw_one(&strata, &state);

		stats_add(&moments, draw.wait_ns + draw.epoch_wait_ns);
	}
	free_strata(&strata);
	*ret_ns = stats_deviation(&moments);
	return 0;
}

struct rest {
	double wait_ns, step_ns; /* step_ns: only the steps at the starts of epochs */
	double epoch_wait_ns;
	double step_factor;
};

static struct rest rest_of(const struct finding *f, const struct strata *strata)
{
	const struct cells *batches = &strata->batches, *epochs = &strata->epochs;
	double step_ns = batches->step_ns[batches->count] + epochs->step_ns[epochs->count];

	return (struct rest){
		.wait_ns = f->account.wait_ns - batches->wait_ns[batches->count],
		.step_ns = epochs->step_ns[epochs->count],
		.epoch_wait_ns = epochs->wait_ns[epochs->count],
		.step_factor = f->account.step_ns / fmax(step_ns, 1),
	};
}

/* Returns by how much a draw changes the sum of waits at epoch starts. This sum stays above 0. */
static double restart_off(const struct draw *draw, const struct rest *rest, double factor)
{
	double off_ns = factor * draw->epoch_wait_ns;

	return off_ns < 0 && rest->epoch_wait_ns > 0
		       ? rest->epoch_wait_ns * expm1(off_ns / rest->epoch_wait_ns)
		       : off_ns;
}

static double ratio_of(const struct draw *draw, const struct rest *rest, double others_ns,
		       double factor)
{
	double wait_ns = fmax(
		draw->wait_ns + restart_off(draw, rest, factor) + rest->wait_ns + others_ns, 0);
	double step_ns = fmax(draw->step_ns + factor * draw->epoch_step_ns + rest->step_ns, 0) *
			 rest->step_factor;

	return wait_ns + step_ns > 0 ? wait_ns / (wait_ns + step_ns) : 0;
}

int boot_stall_ratio(const struct batch_series *s, const struct finding *f, struct boot *ret)
{
	struct stats_moments moments = {0};
	double ratios[RESAMPLES];
	uint64_t state = SEED;
	struct strata strata;
	struct rest rest;
	int i, r;

	*ret = (struct boot){NAN, NAN, NAN, NAN};
	if (f->gap != STALL_GAP_NONE)
		return 0;
	r = make_strata(s, f, &strata);
	if (r < 0)
		return r;
	rest = rest_of(f, &strata);
	for (i = 0; i < RESAMPLES; i++) {
		struct draw draw = draw_one(&strata, &state);
		double others_ns =
			f->others_error_ns > 0 ? f->others_error_ns * draw_normal(&state) : 0;

		ratios[i] = ratio_of(&draw, &rest, others_ns, few_factor(strata.epochs.count));
		stats_add(&moments, ratio_of(&draw, &rest, others_ns, 1));
	}
	free_strata(&strata);
	stats_sort(ratios, RESAMPLES);
	*ret = (struct boot){
		.low95 = ratios[RESAMPLES / 40],
		.high95 = ratios[RESAMPLES - 1 - RESAMPLES / 40],
		.low99 = ratios[RESAMPLES / 100],
		.error = stats_deviation(&moments),
	};
	return 0;
}
