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

/* 1: placed, 0: beyond what is kept. */
static int place(struct rank_grid *grid, size_t index, size_t rank, double stall_ns, double pace_ns)
{
	struct rank_step *step;

	if (index >= RANK_STEPS)
		return 0;
	if (reserve(grid, index + 1) < 0)
		return -ENOMEM;
	step = &grid->steps[index];
	if (!step->count || stall_ns > (double)step->stall_ns) {
		step->second_ns = step->stall_ns;
		step->stall_ns = (float)stall_ns;
		step->pace_ns = (float)pace_ns;
		step->rank = (int32_t)rank;
	} else if (stall_ns > (double)step->second_ns) {
		step->second_ns = (float)stall_ns;
	}
	step->sum_ns += (float)pace_ns;
	step->count++;
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
	double stall_ns;
	size_t count;
};

static int flush(struct rank_job *job, struct bin *bin)
{
	int r = 0;

	if (bin->count && bin->index >= 0)
		r = place(&job->by_clock, (size_t)bin->index, job->rank_count, bin->stall_ns,
			  (double)bin->count * (double)job->step_ns);
	if (r > 0)
		job->by_clock.placed += bin->count;
	bin->count = 0;
	bin->stall_ns = 0;
	return r < 0 ? r : 0;
}

static int add_to_bin(struct rank_job *job, struct bin *bin, double at_ns, double stall_ns)
{
	int64_t index = (int64_t)floor((at_ns - (double)job->origin_ns) / (double)job->bin_ns);
	int r = 0;

	if (bin->count && index != bin->index)
		r = flush(job, bin);
	bin->index = index;
	bin->stall_ns += stall_ns;
	bin->count++;
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

static double known(const float *column, size_t i)
{
	return column && column[i] >= 0 ? (double)column[i] : 0;
}

static void begin_clock(struct rank_job *job, const struct finding *finding, double begin_ns)
{
	double step_ns = finding->steady_ns / (double)finding->steady_count;

	if (job->bin_ns || isnan(begin_ns) || !(step_ns >= 1) || !(step_ns < 1e15))
		return;
	job->step_ns = (int64_t)step_ns;
	job->bin_ns = BIN_STEPS * job->step_ns;
	job->origin_ns = (int64_t)begin_ns - EARLY_BINS * job->bin_ns;
}

static int add_batches(struct rank_job *job, const struct batch_series *s,
		       const struct finding *finding, const struct rank_epoch *epochs,
		       size_t epoch_count)
{
	struct series_place at = SERIES_BEGIN;
	struct bin bin = {0};
	double now_ns = NAN;
	size_t hint = 0, last_run = SIZE_MAX, index;
	int r = 0;

	while (r >= 0 && series_next(s, &at)) {
		double step_ns = known(s->wait_ns, at.i) + known(s->compute_ns, at.i);
		double stall_ns =
			s->state[at.i] & SERIES_STARVED ? known(stall_waits(s, finding), at.i) : 0;
		int32_t epoch = s->runs[at.run].epoch;

		if (last_run == SIZE_MAX || epoch != s->runs[last_run].epoch)
			now_ns = epoch_begin(epochs, epoch_count, epoch);
		last_run = at.run;
		begin_clock(job, finding, now_ns);
		if (s->state[at.i] & SERIES_STEADY) {
			job->batch_count++;
			r = find_step(job, &hint, epoch, at.batch, &index);
			if (r == 0 && index != SIZE_MAX)
				r = place(&job->by_step, index, job->rank_count, stall_ns, step_ns);
			if (r > 0)
				job->by_step.placed++;
			if (r >= 0 && job->bin_ns && !isnan(now_ns))
				r = add_to_bin(job, &bin, now_ns, stall_ns);
		}
		now_ns += step_ns;
	}
	return r < 0 ? r : flush(job, &bin);
}

int rank_add(struct rank_job *job, const struct batch_series *series, const struct finding *finding,
	     const struct rank_epoch *epochs, size_t epoch_count)
{
	int r = 0;

	if (finding->steady_count && finding->gap != STALL_GAP_WAIT &&
	    finding->gap != STALL_GAP_COMPUTE) {
		job->stall_ns += finding->wait_starved_ns;
		job->steady_ns += finding->steady_ns;
		r = add_batches(job, series, finding, epochs, epoch_count);
	}
	job->rank_count++;
	return r;
}

/* Of the steps that more than one rank was in. */
struct sums {
	double stall_ns, time_ns, lag_ns;
	size_t batch_count, step_count;
};

static struct sums sum_up(const struct rank_grid *grid)
{
	struct sums sums = {0};
	size_t i;

	for (i = 0; i < grid->count; i++) {
		const struct rank_step *step = &grid->steps[i];
		double others;

		if (step->count < 2)
			continue;
		others = ((double)step->sum_ns - (double)step->pace_ns) / (step->count - 1);
		sums.stall_ns += (double)step->stall_ns;
		sums.time_ns += (double)step->sum_ns / step->count;
		if (step->stall_ns > 0)
			sums.lag_ns += (double)step->pace_ns - others;
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
	if ((double)step->batch_count >= least && step->lag_ns <= RANK_MOST_LAG * step->stall_ns)
		return RANK_BY_STEP;
	/* There a bin counts once for each rank, whatever it holds. */
	if ((double)job->by_clock.placed >= least && clock->step_count &&
	    -clock->lag_ns <= RANK_MOST_LAG * clock->stall_ns)
		return RANK_BY_CLOCK;
	return RANK_ALONE;
}

/* The stalls of the job, without the largest half percent: one event is no bottleneck. */
static int trim(const struct rank_grid *grid, double *ret_largest_ns)
{
	float *stalls = malloc((grid->count + 1) * sizeof(*stalls));
	struct stats_column column = {.values = stalls};
	struct stats_order order;
	size_t i;

	*ret_largest_ns = 0;
	if (!stalls)
		return -ENOMEM;
	for (i = 0; i < grid->count; i++)
		if (grid->steps[i].count > 1 && grid->steps[i].stall_ns > 0)
			stalls[column.count++] = grid->steps[i].stall_ns;
	if (column.count) {
		stats_order_init(&order, &column);
		*ret_largest_ns = stats_order_sum_largest(
			&order, (size_t)ceil(TRIM_SHARE * (double)column.count));
	}
	free(stalls);
	return 0;
}

static void lay_blame(const struct rank_grid *grid, struct rank_blame *blames)
{
	size_t i;

	for (i = 0; i < grid->count; i++) {
		const struct rank_step *step = &grid->steps[i];
		struct rank_blame *blame = &blames[step->rank];

		if (step->count < 2 || !(step->stall_ns > 0))
			continue;
		blame->stall_ns += (double)step->stall_ns;
		blame->saved_ns += (double)step->stall_ns - (double)step->second_ns;
		blame->step_count++;
	}
}

static void find_culprit(const struct rank_job *job, const struct rank_blame *blames,
			 struct rank_finding *ret)
{
	size_t worst = 0, i;

	for (i = 1; i < job->rank_count; i++)
		if (blames[i].stall_ns > blames[worst].stall_ns)
			worst = i;
	if (!(ret->stall_ns > 0))
		return;
	ret->blame_share = blames[worst].stall_ns / ret->stall_ns;
	/* Who stalls no longer than the others is only the first of many. */
	if (ret->starved && ret->blame_share > RANK_BLAME &&
	    blames[worst].saved_ns > RANK_BLAME * blames[worst].stall_ns)
		ret->culprit = (int32_t)worst;
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
		.lag = step.stall_ns > 0 ? step.lag_ns / step.stall_ns : NAN,
		.step_count = step.step_count,
	};
	if (ret->alignment == RANK_ALONE) {
		ret->stall_ns = job->stall_ns / (double)job->rank_count;
		ret->time_ns = job->steady_ns / (double)job->rank_count;
	} else {
		const struct sums *sums = ret->alignment == RANK_BY_STEP ? &step : &clock;

		grid = ret->alignment == RANK_BY_STEP ? &job->by_step : &job->by_clock;
		ret->stall_ns = sums->stall_ns;
		ret->time_ns = sums->time_ns;
		r = trim(grid, &largest_ns);
		lay_blame(grid, blames);
	}
	ret->stall_ratio = ret->time_ns > 0 ? fmin(ret->stall_ns / ret->time_ns, 1) : NAN;
	ret->trimmed_ratio = ret->time_ns > 0 ? (ret->stall_ns - largest_ns) / ret->time_ns : NAN;
	ret->starved = ret->stall_ratio >= STALL_MODERATE && ret->trimmed_ratio >= STALL_TRIMMED;
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
