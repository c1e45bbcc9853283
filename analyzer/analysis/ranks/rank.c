/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranks/rank.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/ranks/culprit.h"
#include "analysis/ranks/rank_group.h"
#include "analysis/statistics/stats.h"

#define AS_MANY    0.01  /* ranks have equally many steps if they differ by at most this share */
#define MEET       0.5   /* ranks meet if their steps correlate by more than this */
#define VARY       0.005 /* a correlation shows only if steps vary by at least this share */
#define BIN_STEPS  8     /* a bin is 8 to 16 mean steps of the first rank */
/* other ranks may begin this many bins earlier than the first rank */
#define EARLY_BINS (2 << (WINDOW_WIDTHS - 1))

/* Finds a step's index over all epochs. The first rank sets epochs' lengths; the last may grow. */
static int find_step(struct rank_job *job, size_t *hint, int32_t epoch, int64_t batch,
		     size_t *ret_index)
{
	struct rank_base *last = job->epoch_count ? &job->epochs[job->epoch_count - 1] : NULL;

	*ret_index = SIZE_MAX;
	if (batch < 0 || batch > INT32_MAX)
		return 0;
	if (!last || epoch > last->epoch) {
		const size_t base = last ? rank_behind(last) : 0;

		if (!ARRAY_GROW(job->epochs, job->epoch_count))
			return -ENOMEM;
		last = &job->epochs[job->epoch_count++];
		*last = (struct rank_base){epoch, base, 0};
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

/* Adds a batch to its bin. Its pace is the mean step, so that a bin's pace counts its batches. */
static int add_to_bin(struct rank_job *job, double at_ns, const struct window_part *part)
{
	struct window_part mean = *part;
	double bin = floor((at_ns - (double)job->origin_ns) / (double)job->bin_ns);

	mean.pace_ns = (double)job->step_ns;
	return bin >= 0 && bin < (double)INT32_MAX
		       ? window_add(&job->by_clock, (size_t)bin, job->rank_count, &mean)
		       : 0;
}

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

static bool take_batch(const struct batch_series *s, const struct finding *f, size_t i,
		       struct window_part *ret)
{
	const float *waits = stall_waits(s, f);

	if (f->by_gpu && !(waits[i] >= 0))
		return false;
	/* The first wait of a run is start-up, so it does not count. */
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
	struct rank_member *member = &job->members[job->rank_count];
	struct rank_group *group = &job->groups[member->group];
	struct series_place at = SERIES_BEGIN;
	double now_ns = NAN;
	size_t hint = 0, next = 0, index;
	int r = 0;

	while (r == 0 && series_next(s, &at)) {
		struct window_part part;

		if (at.is_new)
			now_ns = rank_epoch_begin(epochs, epoch_count, at.epoch);
		begin_clock(job, finding, now_ns);
		if (take_batch(s, finding, at.i, &part)) {
			const struct account_restart restart = account_restart(s, &next, at.epoch);
			const double start_ns = restart.start_ns + restart.end_ns;

			member->wait_ns += (float)part.wait_ns;
			if (part.is_starved)
				member->starved_ns += (float)part.wait_ns;
			part.wait_ns += start_ns;
			part.time_ns += start_ns;
			part.pace_ns = part.time_ns;
			group->sums.batch_count++;
			r = find_step(job, &hint, at.epoch, at.batch, &index);
			if (r == 0 && index != SIZE_MAX)
				r = window_add(&group->by_step, index, job->rank_count, &part);
			if (r == 0 && job->bin_ns && !isnan(now_ns))
				r = add_to_bin(job, now_ns, &part);
		}
		if (member->place.batch < 0 && at.batch <= INT32_MAX) {
			member->place.epoch = at.epoch;
			member->place.batch = (int32_t)at.batch;
		}
		if (isnan(member->place.begin_ns))
			member->place.begin_ns = now_ns;
		now_ns += series_time(s->wait_ns, at.i) + series_time(s->compute_ns, at.i);
	}
	member->place.end_ns = now_ns;
	if (r == 0)
		r = window_end(&group->by_step, job->rank_count);
	return r < 0 ? r : window_end(&job->by_clock, job->rank_count);
}

int rank_add(struct rank_job *job, const struct batch_series *series, const struct finding *finding,
	     const struct rank_epoch *epochs, size_t epoch_count)
{
	const struct pace pace = rank_group_pace(series, epochs, epoch_count);
	struct rank_member *member;
	struct rank_group *group;
	int r;

	if (!ARRAY_GROW(job->members, job->rank_count))
		return -ENOMEM;
	member = &job->members[job->rank_count];
	*member = (struct rank_member){
		.period_ns = series->workers > 0 && finding->load_mean_ns > 0
				     ? (float)(finding->load_mean_ns / series_busy_workers(series))
				     : 0,
		.place = {NAN, NAN, -1, -1},
	};
	r = rank_group_find(job, &pace, &member->group);
	if (r < 0)
		return r;
	group = &job->groups[member->group];
	if (!isnan(finding->account.ratio)) {
		group->sums.known_count++;
		group->sums.wait_ns += finding->account.wait_ns;
		group->sums.time_ns += finding->account.time_ns;
		r = add_batches(job, series, finding, epochs, epoch_count);
	}
	group->sums.rank_count++;
	job->rank_count++;
	return r;
}

/* Sums over those windows of one width that have more than one rank. */
struct sums {
	int width; /* index of the width; -1: at no width do ranks wait for each other */
	double wait_ns, time_ns;
	double starved_ns; /* sum over windows of the longest wait, if that rank starved */
	double excess_ns; /* in the windows of starved_ns: longest wait - second longest wait */
	double lag_ns; /* in the windows of starved_ns: starved rank's steps - mean of others */
	double alone_wait_ns, alone_time_ns;
	struct stats_pairs paces; /* steps of the rank that waited longest, and the others' mean */
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
		stats_add_pair(&sums.paces, (double)window->pace_ns, others);
		if (window->is_starved) {
			sums.starved_ns += (double)window->wait_ns;
			sums.excess_ns += (double)window->wait_ns - (double)window->second_ns;
			sums.lag_ns += (double)window->pace_ns - others;
		}
		sums.step_count += (size_t)1 << width;
	}
	return sums;
}

/* Returns true if ranks wait for each other. Then the steps of the rank that waits longest are not
 * longer than others' steps (sign 1) or, in bins of time, its batches not fewer (sign -1). */
static bool is_together(const struct windows *windows, const struct sums *sums, int sign)
{
	size_t least = sums->width ? (size_t)RANK_WINDOWS << sums->width : 1;

	return sums->step_count >= least &&
	       sums->alone_time_ns <= (1 - RANK_COMMON) * windows->time_ns &&
	       sign * sums->lag_ns <= RANK_MOST_LAG * sums->excess_ns + RANK_NOISE * sums->time_ns;
}

/* Sums up the windows of the smallest width at which ranks wait for each other (width -1: none). */
static struct sums find_width(const struct windows *windows, size_t batch_count, int sign)
{
	struct sums sums, first = {.width = -1};
	int width;

	if ((double)windows->placed < RANK_COMMON * (double)batch_count)
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

/* Returns true if ranks wait for each other or, where none waits, if their steps correlate. */
static bool do_meet(const struct sums *sums)
{
	const struct stats_pairs *c = &sums->paces;

	return sums->width >= 0 && (sums->excess_ns > RANK_NOISE * sums->time_ns ||
				    (c->xx > c->count * (VARY * c->x) * (VARY * c->x) &&
				     c->xy > MEET * sqrt(c->xx * c->yy)));
}

/* Sets what the job lost. Time outside of the aligned windows counts as its mean over the ranks. */
static void take_sums(const struct rank_group *group, const struct windows *grid,
		      const struct sums *sums, struct rank_finding *ret)
{
	double ranks = (double)group->sums.known_count;

	ret->wait_ns = sums->wait_ns +
		       fmax(group->sums.wait_ns - (grid->wait_ns - sums->alone_wait_ns), 0) / ranks;
	ret->time_ns = sums->time_ns +
		       fmax(group->sums.time_ns - (grid->time_ns - sums->alone_time_ns), 0) / ranks;
}

static int judge_group(const struct rank_job *job, const struct rank_group *group,
		       const struct windows *by_clock, struct rank_blame *blames, bool *ret_meets,
		       struct rank_finding *ret)
{
	const struct sums step = find_width(&group->by_step, group->sums.batch_count, 1);
	const struct sums clock = step.width >= 0 || !by_clock
					  ? step
					  : find_width(by_clock, group->sums.batch_count, -1);
	const struct windows *grid = step.width >= 0 ? &group->by_step : by_clock;

	*ret_meets = group->sums.rank_count > 1 && do_meet(&step);
	*ret = (struct rank_finding){
		.alignment = group->sums.rank_count < 2 || clock.width < 0 ? RANK_ALONE
			     : step.width >= 0                             ? RANK_BY_STEP
									   : RANK_BY_CLOCK,
		.culprit = -1,
		.hidden = -1,
		.blame_share = NAN,
		.lag = step.starved_ns > 0 ? step.lag_ns / step.excess_ns : NAN,
		.width = step.width >= 0 ? 1 << step.width : 0,
		.step_count = step.step_count,
	};
	if (ret->alignment == RANK_ALONE) {
		ret->wait_ns = group->sums.wait_ns / (double)group->sums.known_count;
		ret->time_ns = group->sums.time_ns / (double)group->sums.known_count;
	} else {
		take_sums(group, grid, &clock, ret);
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
		       : culprit_find(job, group, &grid->widths[clock.width], blames, ret);
}

/* Returns true if ranks made equally many steps. Else their steps may not correspond. */
static bool are_as_many(const struct rank_job *job)
{
	size_t least = SIZE_MAX, most = 0;

	for (size_t i = 0; i < job->group_count; i++) {
		const size_t steps = pace_steps(&job->groups[i].sums.pace);

		least = steps < least ? steps : least;
		most = steps > most ? steps : most;
	}
	return (double)(most - least) <= AS_MANY * (double)most;
}

static int judge_groups(const struct rank_job *job, struct rank_blame *blames, bool *ret_meet,
			struct rank_finding *ret)
{
	struct rank_finding *found = malloc(sizeof(*found));
	struct rank_part parts[RANK_GROUPS];
	size_t worst = 0;
	int r = found ? 0 : -ENOMEM;

	*ret_meet = false;
	for (size_t i = 0; r == 0 && i < job->group_count; i++) {
		bool meets;

		r = judge_group(job, &job->groups[i], NULL, blames, &meets, found);
		parts[i] = (struct rank_part){found->stall_ratio, found->wait_ns, meets};
		*ret_meet |= meets;
		if (!i || found->stall_ratio > ret->stall_ratio || isnan(ret->stall_ratio)) {
			*ret = *found;
			worst = i;
		}
	}
	memcpy(ret->groups, parts, job->group_count * sizeof(*parts));
	ret->group_count = job->group_count;
	ret->group = worst;
	free(found);
	return r;
}

static int unite_all(const struct rank_job *job, struct rank_group *ret)
{
	int r = 0;

	*ret = (struct rank_group){.sums.rank_count = 0};
	for (size_t i = 0; r == 0 && i < job->group_count; i++)
		r = rank_group_add(ret, &job->groups[i]);
	return r;
}

/* Sets *ret to false if ranks made different numbers of steps, but wait for each other in bins. */
static int are_apart(const struct rank_job *job, bool *ret)
{
	struct rank_finding *found = calloc(1, sizeof(*found));
	struct rank_blame *blames = calloc(job->rank_count + 1, sizeof(*blames));
	struct rank_group whole;
	int r = unite_all(job, &whole);
	bool meet;

	*ret = true;
	if (!found || !blames)
		r = -ENOMEM;
	if (r == 0 && !are_as_many(job)) {
		r = judge_group(job, &whole, &job->by_clock, blames, &meet, found);
		*ret = found->alignment == RANK_ALONE;
	}
	window_done(&whole.by_step);
	free(found);
	free(blames);
	return r;
}

static int join(struct rank_job *job)
{
	struct rank_group whole;
	int r = unite_all(job, &whole);

	for (size_t i = 0; i < job->group_count; i++)
		window_done(&job->groups[i].by_step);
	for (size_t i = 0; i < job->rank_count; i++)
		job->members[i].group = 0;
	job->groups[0] = whole;
	job->group_count = 1;
	return r;
}

static int judge(struct rank_job *job, struct rank_blame *blames, struct rank_finding *ret)
{
	const size_t bytes = job->rank_count * sizeof(*blames);
	bool meet = false, apart = false;
	int r = rank_group_unite_alike(job);

	memset(blames, 0, bytes);
	for (size_t i = 0; i < job->rank_count; i++)
		blames[i].group = job->members[i].group;
	if (r == 0 && job->group_count > 1)
		r = judge_groups(job, blames, &meet, ret);
	if (r == 0 && meet)
		r = are_apart(job, &apart);
	if (r < 0 || apart)
		return r;
	memset(blames, 0, bytes);
	for (size_t i = 0; i < job->rank_count; i++)
		blames[i].group = -1;
	if (job->group_count > 1)
		r = join(job);
	return r < 0 ? r : judge_group(job, &job->groups[0], &job->by_clock, blames, &meet, ret);
}

void rank_doubt(struct rank_blame *blames, size_t count, struct rank_finding *job)
{
	if (job->verdict == STALL_VERDICT_INCOMPLETE)
		return;
	job->verdict = STALL_VERDICT_IN_DOUBT;
	job->culprit = job->hidden = -1;
	job->culprit_count = 0;
	for (size_t i = 0; i < count; i++)
		blames[i].is_culprit = false;
}

int rank_judge(struct rank_job *job, struct rank_blame *blames, struct rank_finding *ret)
{
	int r = judge(job, blames, ret);

	return r < 0 ? r : rank_place_judge(job, ret);
}

void rank_free_windows(struct rank_job *job)
{
	for (size_t i = 0; i < job->group_count; i++)
		window_done(&job->groups[i].by_step);
	window_done(&job->by_clock);
}

void rank_done(struct rank_job *job)
{
	rank_free_windows(job);
	free(job->groups);
	free(job->epochs);
	free(job->members);
	memset(job, 0, sizeof(*job));
}

const char *const rank_alignment_names[RANK_ALIGNMENTS] = {
	[RANK_BY_STEP] = "step",
	[RANK_BY_CLOCK] = "clock",
	[RANK_ALONE] = "none",
};

static bool is_meant(const struct rank_job *job, const struct rank_finding *finding, size_t i)
{
	return job->members[i].place.batch >= 0 &&
	       (!finding->group_count || (size_t)job->members[i].group == finding->group);
}

static bool is_same(const struct rank_place *one, const struct rank_place *other)
{
	return one->epoch == other->epoch && one->batch == other->batch;
}

static void find_shifted(const struct rank_job *job, struct rank_finding *ret)
{
	const struct rank_place *usual = NULL;
	size_t lead = 0, i;

	for (i = 0; i < job->rank_count; i++) {
		const struct rank_place *place = &job->members[i].place;

		if (!is_meant(job, ret, i))
			continue;
		if (!lead)
			usual = place;
		lead = is_same(place, usual) ? lead + 1 : lead - 1;
	}
	for (i = 0; i < job->rank_count; i++)
		if (is_meant(job, ret, i) && !is_same(&job->members[i].place, usual) &&
		    !ret->shifted_count++)
			ret->shifted = (int32_t)i;
}

static double median(double *values, size_t count)
{
	stats_sort(values, count);
	return values[(count - 1) / 2];
}

static int find_apart(const struct rank_job *job, struct rank_finding *ret)
{
	double *begins = malloc(2 * job->rank_count * sizeof(*begins)), *ends;
	double begin_ns, end_ns;
	size_t count = 0, i;

	if (!begins)
		return -ENOMEM;
	ends = begins + job->rank_count;
	for (i = 0; i < job->rank_count; i++) {
		const struct rank_place *place = &job->members[i].place;

		if (is_meant(job, ret, i) && isfinite(place->begin_ns) && isfinite(place->end_ns)) {
			begins[count] = place->begin_ns;
			ends[count++] = place->end_ns;
		}
	}
	begin_ns = count ? median(begins, count) : NAN;
	end_ns = count ? median(ends, count) : NAN;
	for (i = 0; i < job->rank_count; i++) {
		const struct rank_place *place = &job->members[i].place;
		const double begin = place->begin_ns - begin_ns, end = place->end_ns - end_ns;

		if (is_meant(job, ret, i) && begin * end > 0 &&
		    fmin(fabs(begin), fabs(end)) > fmax((double)job->bin_ns, ret->apart_ns))
			ret->apart_ns = fmin(fabs(begin), fabs(end));
	}
	free(begins);
	return 0;
}

int rank_place_judge(const struct rank_job *job, struct rank_finding *ret)
{
	find_shifted(job, ret);
	if (ret->alignment != RANK_BY_CLOCK)
		return 0;
	ret->shifted_count = 0; /* shifted ordinals do not matter if ranks are aligned by time */
	return find_apart(job, ret);
}
