/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/rank.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats.h"

#define FIRST_STEPS 4096
#define BIN_STEPS   8  /* mean steps of the first rank a bin */
#define EARLY_BINS  64 /* other ranks may begin so much before the first */
#define TRIM_SHARE  0.005

static int reserve(struct rank_grid *grid, size_t count)
{
	size_t capacity = grid->capacity ? grid->capacity : FIRST_STEPS;
	struct rank_step *steps;

	while (capacity < count)
		capacity *= 2;
	if (capacity != grid->capacity) {
		steps = reallocarray(grid->steps, capacity, sizeof(*steps));
		if (!steps)
			return -ENOMEM;
		grid->steps = steps;
		grid->capacity = capacity;
	}
	if (count > grid->count) {
		memset(grid->steps + grid->count, 0, (count - grid->count) * sizeof(*grid->steps));
		grid->count = count;
	}
	return 0;
}

/* What a rank did in a step, or in a bin. */
struct part {
	double wait_ns, time_ns;
	double pace_ns; /* of a step its time */
	bool is_starved;
	size_t count; /* batches */
};

/* 1: placed, 0: beyond what is kept. */
static int place(struct rank_grid *grid, size_t index, size_t rank, const struct part *part)
{
	struct rank_step *step;

	if (index >= RANK_STEPS)
		return 0;
	if (reserve(grid, index + 1) < 0)
		return -ENOMEM;
	step = &grid->steps[index];
	if (!step->count || part->wait_ns > (double)step->wait_ns) {
		step->second_ns = step->wait_ns;
		step->wait_ns = (float)part->wait_ns;
		step->pace_ns = (float)part->pace_ns;
		step->rank = (int32_t)rank;
		step->is_starved = part->is_starved;
	} else if (part->wait_ns > (double)step->second_ns) {
		step->second_ns = (float)part->wait_ns;
	}
	step->sum_ns += (float)part->pace_ns;
	step->count++;
	grid->placed += part->count;
	grid->wait_ns += part->wait_ns;
	grid->time_ns += part->time_ns;
	return 1;
}

/* Where the step of the job is; the first rank that has an epoch says how long it is. */
static int find_step(struct rank_job *job, size_t *hint, int32_t epoch, int64_t batch,
		     size_t *ret_index)
{
	struct rank_base *last = job->epoch_count ? &job->epochs[job->epoch_count - 1] : NULL;

	*ret_index = SIZE_MAX;
	if (batch < 0 || (uint64_t)batch >= RANK_STEPS)
		return 0;
	if (!last || epoch > last->epoch) {
		struct rank_base *grown =
			reallocarray(job->epochs, job->epoch_count + 1, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		job->epochs = grown;
		job->epochs[job->epoch_count] = (struct rank_base){
			epoch,
			job->epoch_count ? grown[job->epoch_count - 1].base +
						   grown[job->epoch_count - 1].length
					 : 0,
			0};
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

/* What of a rank falls into the bin that is being filled. */
struct bin {
	int64_t index;
	struct part part;
};

static int flush(struct rank_job *job, struct bin *bin)
{
	int r = 0;

	bin->part.pace_ns = (double)bin->part.count * (double)job->step_ns;
	if (bin->part.count && bin->index >= 0)
		r = place(&job->by_clock, (size_t)bin->index, job->rank_count, &bin->part);
	bin->part = (struct part){.count = 0};
	return r < 0 ? r : 0;
}

static int add_to_bin(struct rank_job *job, struct bin *bin, double at_ns, const struct part *part)
{
	int64_t index = (int64_t)floor((at_ns - (double)job->origin_ns) / (double)job->bin_ns);
	int r = 0;

	if (bin->part.count && index != bin->index)
		r = flush(job, bin);
	bin->index = index;
	bin->part.wait_ns += part->wait_ns;
	bin->part.time_ns += part->time_ns;
	bin->part.is_starved |= part->is_starved;
	bin->part.count++;
	return r;
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

static void begin_clock(struct rank_job *job, const struct finding *finding, double begin_ns)
{
	double step_ns = finding->own.time_ns / (double)finding->own.count;

	if (job->bin_ns || isnan(begin_ns) || !(step_ns >= 1) || !(step_ns < 1e15))
		return;
	job->step_ns = (int64_t)step_ns;
	job->bin_ns = BIN_STEPS * job->step_ns;
	job->origin_ns = (int64_t)begin_ns - EARLY_BINS * job->bin_ns;
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
		       struct part *ret)
{
	const float *waits = stall_waits(s, f);

	if (f->by_gpu && !(waits[i] >= 0))
		return false;
	/* A run's first wait is start-up. */
	*ret = (struct part){
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
	struct bin bin = {0};
	double now_ns = NAN;
	size_t hint = 0, last_run = SIZE_MAX, next = 0, index;
	int r = 0;

	while (r >= 0 && series_next(s, &at)) {
		int32_t epoch = s->runs[at.run].epoch;
		struct part part;

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
				r = place(&job->by_step, index, job->rank_count, &part);
			if (r >= 0 && job->bin_ns && !isnan(now_ns))
				r = add_to_bin(job, &bin, now_ns, &part);
		}
		now_ns += series_time(s->wait_ns, at.i) + series_time(s->compute_ns, at.i);
	}
	return r < 0 ? r : flush(job, &bin);
}

int rank_add(struct rank_job *job, const struct batch_series *series, const struct finding *finding,
	     const struct rank_epoch *epochs, size_t epoch_count)
{
	int r = 0;

	if (!isnan(finding->account.ratio)) {
		job->known_count++;
		job->wait_ns += finding->account.wait_ns;
		job->time_ns += finding->account.time_ns;
		r = add_batches(job, series, finding, epochs, epoch_count);
	}
	job->rank_count++;
	return r;
}

/* Of the steps that more than one rank was in. */
struct sums {
	double wait_ns, time_ns;
	double starved_ns, lag_ns;           /* of those in which the longest wait starved */
	double alone_wait_ns, alone_time_ns; /* of the other steps */
	size_t batch_count, step_count;
};

static struct sums sum_up(const struct rank_grid *grid)
{
	struct sums sums = {0};
	size_t i;

	for (i = 0; i < grid->count; i++) {
		const struct rank_step *step = &grid->steps[i];
		double others;

		if (step->count < 2) {
			sums.alone_wait_ns += (double)step->wait_ns;
			sums.alone_time_ns += (double)step->sum_ns;
			continue;
		}
		others = ((double)step->sum_ns - (double)step->pace_ns) / (step->count - 1);
		sums.wait_ns += (double)step->wait_ns;
		sums.time_ns += (double)step->sum_ns / step->count;
		if (step->is_starved) {
			sums.starved_ns += (double)step->wait_ns;
			sums.lag_ns += (double)step->pace_ns - others;
		}
		sums.batch_count += step->count;
		sums.step_count++;
	}
	return sums;
}

static enum rank_alignment choose(const struct rank_job *job, const struct sums *step,
				  const struct sums *clock)
{
	double least = RANK_COMMON * (double)job->batch_count;

	if (job->rank_count < 2 || !job->batch_count)
		return RANK_ALONE;
	if ((double)step->batch_count >= least && step->lag_ns <= RANK_MOST_LAG * step->starved_ns)
		return RANK_BY_STEP;
	/* There a bin counts once for each rank, whatever it holds. */
	if ((double)job->by_clock.placed >= least && clock->step_count &&
	    -clock->lag_ns <= RANK_MOST_LAG * clock->starved_ns)
		return RANK_BY_CLOCK;
	return RANK_ALONE;
}

/* The largest half percent of what the job lost: one event is no bottleneck. */
static int trim(const struct rank_grid *grid, double *ret_largest_ns)
{
	float *waits = malloc((grid->count + 1) * sizeof(*waits));
	struct stats_column column = {.values = waits};
	struct stats_order order;
	size_t i;

	*ret_largest_ns = 0;
	if (!waits)
		return -ENOMEM;
	for (i = 0; i < grid->count; i++)
		if (grid->steps[i].count > 1 && grid->steps[i].wait_ns > 0)
			waits[column.count++] = grid->steps[i].wait_ns;
	if (column.count) {
		stats_order_init(&order, &column);
		*ret_largest_ns = stats_order_sum_largest(
			&order, (size_t)ceil(TRIM_SHARE * (double)column.count));
	}
	free(waits);
	return 0;
}

static void lay_blame(const struct rank_grid *grid, struct rank_blame *blames)
{
	size_t i;

	for (i = 0; i < grid->count; i++) {
		const struct rank_step *step = &grid->steps[i];
		struct rank_blame *blame = &blames[step->rank];

		if (step->count < 2 || !(step->wait_ns > 0))
			continue;
		blame->wait_ns += (double)step->wait_ns;
		blame->saved_ns += (double)step->wait_ns - (double)step->second_ns;
		blame->step_count++;
	}
}

static void find_culprit(const struct rank_job *job, const struct rank_blame *blames,
			 struct rank_finding *ret)
{
	size_t worst = 0, i;

	for (i = 1; i < job->rank_count; i++)
		if (blames[i].wait_ns > blames[worst].wait_ns)
			worst = i;
	if (!(ret->wait_ns > 0))
		return;
	ret->blame_share = blames[worst].wait_ns / ret->wait_ns;
	/* Who waits no longer than the others is only the first of many. */
	if (ret->starved && ret->trimmed_ratio >= STALL_TRIMMED && ret->blame_share > RANK_BLAME &&
	    blames[worst].saved_ns > RANK_BLAME * blames[worst].wait_ns)
		ret->culprit = (int32_t)worst;
}

/* What is aligned, and of the rest the mean of the ranks. */
static void take_sums(const struct rank_job *job, const struct rank_grid *grid,
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
	const struct sums step = sum_up(&job->by_step), clock = sum_up(&job->by_clock);
	const struct rank_grid *grid = NULL;
	double largest_ns = 0;
	int r = 0;

	memset(blames, 0, job->rank_count * sizeof(*blames));
	*ret = (struct rank_finding){
		.alignment = choose(job, &step, &clock),
		.culprit = -1,
		.blame_share = NAN,
		.lag = step.starved_ns > 0 ? step.lag_ns / step.starved_ns : NAN,
		.step_count = step.step_count,
	};
	if (ret->alignment == RANK_ALONE) {
		ret->wait_ns = job->wait_ns / (double)job->known_count;
		ret->time_ns = job->time_ns / (double)job->known_count;
	} else {
		grid = ret->alignment == RANK_BY_STEP ? &job->by_step : &job->by_clock;
		take_sums(job, grid, ret->alignment == RANK_BY_STEP ? &step : &clock, ret);
		r = trim(grid, &largest_ns);
		lay_blame(grid, blames);
	}
	ret->stall_ratio = ret->time_ns > 0 ? fmin(ret->wait_ns / ret->time_ns, 1) : NAN;
	ret->trimmed_ratio = ret->time_ns > 0 ? (ret->wait_ns - largest_ns) / ret->time_ns : NAN;
	ret->starved = ret->stall_ratio >= STALL_MODERATE;
	ret->verdict = isnan(ret->stall_ratio)         ? STALL_VERDICT_INCOMPLETE
		       : !ret->starved                 ? STALL_VERDICT_NOT
		       : ret->stall_ratio < STALL_HIGH ? STALL_VERDICT_MODERATELY
						       : STALL_VERDICT_HIGHLY;
	if (grid)
		find_culprit(job, blames, ret);
	return r;
}

void rank_done(struct rank_job *job)
{
	free(job->by_step.steps);
	free(job->by_clock.steps);
	free(job->epochs);
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
