/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/rank.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/culprit.h"

#define BIN_STEPS   8 /* mean steps of the first rank a bin, or up to twice as many */
#define EARLY_BINS  (2 << (WINDOW_WIDTHS - 1)) /* others may begin so much before the first */

/* Where the step of the job is; the first rank that has an epoch says how long it is. */
static int find_step(struct rank_job *job, size_t *hint, int32_t epoch, int64_t batch,
		     size_t *ret_index)
{
	struct rank_base *last = job->epoch_count ? &job->epochs[job->epoch_count - 1] : NULL;

	*ret_index = SIZE_MAX;
	if (batch < 0 || batch > INT32_MAX)
		return 0;
	if (!last || epoch > last->epoch) {
		struct rank_base *grown =
			reallocarray(job->epochs, job->epoch_count + 1, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		job->epochs = grown;
		job->epochs[job->epoch_count] = (struct rank_base){
			epoch, job->epoch_count ? rank_behind(&grown[job->epoch_count - 1]) : 0, 0};
		last = &job->epochs[job->epoch_count++];
	}
	while (*hint + 1 < job->epoch_count && job->epochs[*hint].epoch < epoch)
		++*hint;
	if (job->epochs[*hint].epoch != epoch)
		return 0;
	if ((size_t)batch >= job->epochs[*hint].length) {
		if (&job->epochs[*hint] != last)
			return 0;
		last->length = (size_t)batch + 1;
	}
	*ret_index = job->epochs[*hint].base + (size_t)batch;
	return 0;
}

/* In a bin a batch has the pace of a mean one, and the rank that is late has fewer of them. */
static int add_to_bin(struct rank_job *job, double at_ns, const struct window_part *part)
{
	struct window_part mean = *part;
	double bin = floor((at_ns - (double)job->origin_ns) / (double)job->bin_ns);

	mean.pace_ns = (double)job->step_ns;
	return bin >= 0 && bin < (double)INT32_MAX
		       ? window_add(&job->by_clock, (size_t)bin, job->rank_count, &mean)
		       : 0;
}

/* Begin of an epoch, NAN where the clock is not known. */
static double epoch_begin(const struct rank_epoch *epochs, size_t count, int32_t epoch)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (epochs[i].epoch == epoch)
			return (double)epochs[i].begin_ns;
	return NAN;
}

/* Bins and origin are such that those of two parts of a job can be brought together. */
static void begin_clock(struct rank_job *job, const struct finding *finding, double begin_ns)
{
	double step_ns = finding->own.time_ns / (double)finding->own.count;
	int64_t early_ns;

	if (job->bin_ns || isnan(begin_ns) || !(step_ns >= 1) || !(step_ns < 1e15))
		return;
	job->step_ns = (int64_t)step_ns;
	for (job->bin_ns = 1; job->bin_ns < BIN_STEPS * job->step_ns;)
		job->bin_ns *= 2;
	early_ns = EARLY_BINS * job->bin_ns;
	job->origin_ns = ((int64_t)begin_ns / early_ns - 1) * early_ns;
}

/* What began the epochs up to this one. */
static double restart_ns(const struct batch_series *s, size_t *next, int32_t epoch)
{
	double ns = 0, end_ns;

	for (; *next < s->epoch_count && s->epochs[*next].epoch <= epoch; ++*next)
		ns += account_restart_ns(s, *next, &end_ns) + end_ns;
	return ns;
}

/* False: the clock of the account does not count the batch. */
static bool take_batch(const struct batch_series *s, const struct finding *f, size_t i,
		       struct window_part *ret)
{
	const float *waits = stall_waits(s, f);

	if (f->by_gpu && !(waits[i] >= 0))
		return false;
	/* A run's first wait is start-up. */
	*ret = (struct window_part){
		.wait_ns = i || s->is_part ? series_time(waits, i) : 0,
		.is_starved = s->state[i] & SERIES_STARVED,
		.count = 1,
	};
	ret->time_ns = ret->wait_ns + stall_demand_ns(s, f, i);
	return true;
}

static int add_batches(struct rank_job *job, const struct batch_series *s,
		       const struct finding *finding, const struct rank_epoch *epochs,
		       size_t epoch_count)
{
	struct series_place at = SERIES_BEGIN;
	double now_ns = NAN;
	size_t hint = 0, last_run = SIZE_MAX, next = 0, index;
	int r = 0;

	while (r == 0 && series_next(s, &at)) {
		int32_t epoch = s->runs[at.run].epoch;
		struct window_part part;

		if (last_run == SIZE_MAX || epoch != s->runs[last_run].epoch)
			now_ns = epoch_begin(epochs, epoch_count, epoch);
		last_run = at.run;
		begin_clock(job, finding, now_ns);
		if (take_batch(s, finding, at.i, &part)) {
			double start_ns = restart_ns(s, &next, epoch);

			part.wait_ns += start_ns;
			part.time_ns += start_ns;
			part.pace_ns = part.time_ns;
			job->batch_count++;
			r = find_step(job, &hint, epoch, at.batch, &index);
			if (r == 0 && index != SIZE_MAX)
				r = window_add(&job->by_step, index, job->rank_count, &part);
			if (r == 0 && job->bin_ns && !isnan(now_ns))
				r = add_to_bin(job, now_ns, &part);
		}
		now_ns += series_time(s->wait_ns, at.i) + series_time(s->compute_ns, at.i);
	}
	if (r == 0)
		r = window_end(&job->by_step, job->rank_count);
	return r < 0 ? r : window_end(&job->by_clock, job->rank_count);
}

int rank_add(struct rank_job *job, const struct batch_series *series, const struct finding *finding,
	     const struct rank_epoch *epochs, size_t epoch_count)
{
	float *periods = reallocarray(job->period_ns, job->rank_count + 1, sizeof(*periods));
	int r = 0;

	if (!periods)
		return -ENOMEM;
	job->period_ns = periods;
	periods[job->rank_count] = series->workers > 0 && finding->load_mean_ns > 0
					   ? (float)(finding->load_mean_ns / series->workers)
					   : 0;
	if (!isnan(finding->account.ratio)) {
		job->known_count++;
		job->wait_ns += finding->account.wait_ns;
		job->time_ns += finding->account.time_ns;
		r = add_batches(job, series, finding, epochs, epoch_count);
	}
	job->rank_count++;
	return r;
}

/* Of the windows of one width that more than one rank was in. */
struct sums {
	int width; /* -1: none shows that the ranks meet */
	double wait_ns, time_ns;
	double starved_ns;                   /* where the longest wait starved: the longest, */
	double excess_ns;                    /* how much longer than that of all others, */
	double lag_ns;                       /* and how much longer its steps took */
	double alone_wait_ns, alone_time_ns; /* of the other windows */
	size_t step_count;
};

static struct sums sum_up(const struct windows *windows, int width)
{
	struct sums sums = {.width = width};

	for (size_t i = 0; i < windows->widths[width].count; i++) {
		const struct window *window = &windows->widths[width].list[i];
		double others;

		if (window->count < 2) {
			sums.alone_wait_ns += (double)window->wait_ns;
			sums.alone_time_ns += (double)window->sum_ns;
			continue;
		}
		others = ((double)window->sum_ns - (double)window->pace_ns) / (window->count - 1);
		sums.wait_ns += (double)window->wait_ns;
		sums.time_ns += (double)window->sum_ns / window->count;
		if (window->is_starved) {
			sums.starved_ns += (double)window->wait_ns;
			sums.excess_ns += (double)window->wait_ns - (double)window->second_ns;
			sums.lag_ns += (double)window->pace_ns - others;
		}
		sums.step_count += (size_t)1 << width;
	}
	return sums;
}

/* Are the others as slow as the rank that waits? `sign`: -1 where that one has fewer batches. */
static bool is_together(const struct windows *windows, const struct sums *sums, int sign)
{
	size_t least = sums->width ? (size_t)RANK_WINDOWS << sums->width : 1;

	return sums->step_count >= least &&
	       sums->alone_time_ns <= (1 - RANK_COMMON) * windows->time_ns &&
	       sign * sums->lag_ns <= RANK_MOST_LAG * sums->excess_ns + RANK_NOISE * sums->time_ns;
}

/* By the narrowest windows that show that the ranks meet; by none, the sums are of the narrowest.
 */
static struct sums find_width(const struct windows *windows, const struct rank_job *job, int sign)
{
	struct sums sums, first = {.width = -1};
	int width;

	if ((double)windows->placed < RANK_COMMON * (double)job->batch_count)
		return first;
	for (width = 0; width < WINDOW_WIDTHS; width++) {
		if (!windows->widths[width].count)
			continue;
		sums = sum_up(windows, width);
		if (is_together(windows, &sums, sign))
			return sums;
		if (!first.step_count)
			first = sums;
	}
	first.width = -1;
	return first;
}

/* What is aligned, and of the rest the mean of the ranks. */
static void take_sums(const struct rank_job *job, const struct windows *grid,
		      const struct sums *sums, struct rank_finding *ret)
{
	double ranks = (double)job->known_count;

	ret->wait_ns = sums->wait_ns +
		       fmax(job->wait_ns - (grid->wait_ns - sums->alone_wait_ns), 0) / ranks;
	ret->time_ns = sums->time_ns +
		       fmax(job->time_ns - (grid->time_ns - sums->alone_time_ns), 0) / ranks;
}

int rank_judge(const struct rank_job *job, struct rank_blame *blames, struct rank_finding *ret)
{
	const struct sums step = find_width(&job->by_step, job, 1);
	const struct sums clock = step.width >= 0 ? step : find_width(&job->by_clock, job, -1);
	const struct windows *grid = step.width >= 0 ? &job->by_step : &job->by_clock;

	memset(blames, 0, job->rank_count * sizeof(*blames));
	*ret = (struct rank_finding){
		.alignment = job->rank_count < 2 || clock.width < 0 ? RANK_ALONE
			     : step.width >= 0                      ? RANK_BY_STEP
								    : RANK_BY_CLOCK,
		.culprit = -1,
		.hidden = -1,
		.blame_share = NAN,
		.lag = step.starved_ns > 0 ? step.lag_ns / step.excess_ns : NAN,
		.width = step.width >= 0 ? 1 << step.width : 0,
		.step_count = step.step_count,
	};
	if (ret->alignment == RANK_ALONE) {
		ret->wait_ns = job->wait_ns / (double)job->known_count;
		ret->time_ns = job->time_ns / (double)job->known_count;
	} else {
		take_sums(job, grid, &clock, ret);
	}
	ret->stall_ratio = ret->time_ns > 0 ? fmin(ret->wait_ns / ret->time_ns, 1) : NAN;
	ret->trimmed_ratio = ret->stall_ratio;
	ret->starved = ret->stall_ratio >= STALL_MODERATE;
	ret->verdict = isnan(ret->stall_ratio)         ? STALL_VERDICT_INCOMPLETE
		       : !ret->starved                 ? STALL_VERDICT_NOT
		       : ret->stall_ratio < STALL_HIGH ? STALL_VERDICT_MODERATELY
						       : STALL_VERDICT_HIGHLY;
	return ret->alignment == RANK_ALONE
		       ? 0
		       : culprit_find(job, &grid->widths[clock.width], blames, ret);
}

void rank_done(struct rank_job *job)
{
	window_done(&job->by_step);
	window_done(&job->by_clock);
	free(job->epochs);
	free(job->period_ns);
	memset(job, 0, sizeof(*job));
}

const char *rank_alignment_name(enum rank_alignment alignment)
{
	static const char *const names[RANK_ALIGNMENTS] = {
		[RANK_BY_STEP] = "step",
		[RANK_BY_CLOCK] = "clock",
		[RANK_ALONE] = "none",
	};

	return names[alignment];
}
