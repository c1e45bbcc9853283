/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/cause.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cause/advice.h"
#include "analysis/cause/grounds.h"
#include "analysis/cause/lines.h"
#include "analysis/cause/split.h"
#include "analysis/cause/useless.h"
#include "analysis/predict/take.h"
#include "analysis/statistics/stats.h"

#define EXCESS_SHARE      0.5 /* an event exceeds the median by at least this share of the median */
#define EXCESS_FLOOR_NS   2e6
#define FEWER_CORES       2    /* fewer workers are tried if each core has this many workers */
#define LOGGING_LEAST     0.05 /* logging is a cause if it takes at least this share of the time */
#define ACCUMULATED_MOST  16   /* gradients are accumulated over at most this many batches */
/* long steps are gradient accumulation only if they take this share of all steps' time */
#define ACCUMULATED_SHARE 0.4
#define GATHERED_SHARE    0.9
#define GATHERED_MANY     8 /* a step that takes fewer batches accumulates their gradients */
/* a first epoch is cold only if loads are off the CPU for this share of its excess time */
#define COLD_OFF_CPU      0.5
/* the sampler makes epochs start slowly if it takes at least this share of the start */
#define START_SAMPLED     0.5
/* slow loads are gradual if loads just before or after have this share of their excess time */
#define GRADUAL_LEAST     0.3

const char *const cause_names[CAUSE_MAX] = {
#define CAUSE(constant, name, ...) [CAUSE_##constant] = name,
#include "analysis/cause/causes.def"
#undef CAUSE
};

/* Makes a query for values that exceed the median by EXCESS_SHARE of it, plus `floor_ns`. */
static struct events_query excess(const struct batch_series *s, const float *values,
				  double floor_ns, double median_ns)
{
	struct events_query query = {.series = s, .values = values};
	struct stats_column column;

	if (s->wait_ns && s->compute_ns)
		query.mask = SERIES_STEADY;
	else
		query.from_start = true;
	column = series_column(s, values, query.mask);
	if (values)
		query.offset_ns = isnan(median_ns) ? stats_median(&column) : median_ns;
	if (isnan(query.offset_ns))
		query.values = NULL;
	query.theta_ns = EXCESS_SHARE * query.offset_ns + floor_ns;
	return query;
}

/*
 * Lists for how long the GPU was idle in each step, because a step that waits for a busy GPU is no
 * pause. Sets *ret to NULL if the GPU's times are unknown.
 */
static int list_gpu_idle(const struct batch_series *s, const struct finding *f, float **ret)
{
	*ret = NULL;
	if (!f->by_gpu || !s->gpu_busy_ns || s->synchronous == 0)
		return 0;
	*ret = malloc(s->count * sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (size_t i = 0; i < s->count; i++)
		(*ret)[i] = s->gpu_busy_ns[i] >= 0
				    ? (float)fmax(0, stall_demand_ns(s, f, i) -
							     (double)s->gpu_busy_ns[i])
				    : NAN;
	return 0;
}

/* Returns true if loads just before or after slow loads are nearly as slow, as in sorted data. */
static bool is_gradual(const struct events_query *q)
{
	const struct batch_series *s = q->series;
	double around_ns = 0, slow_ns = 0, before_ns = 0;
	size_t i, end;

	for (i = 0; q->values && i < s->count; i = end) {
		double run_ns = 0, excess_ns;

		for (end = i; end < s->count; end++) {
			excess_ns = (double)q->values[end] - q->offset_ns;
			if (!(excess_ns > 0 && excess_ns >= q->theta_ns))
				break;
			run_ns += excess_ns;
		}
		if (end > i) {
			double after_ns =
				end < s->count ? (double)q->values[end] - q->offset_ns : 0;

			slow_ns += run_ns / (double)(end - i);
			around_ns += fmax(0, fmax(before_ns, after_ns));
		} else {
			before_ns = excess_ns;
			end++;
		}
	}
	return around_ns > GRADUAL_LEAST * slow_ns;
}

static int find_periods(const struct batch_series *s, const struct finding *f,
			const float *gpu_idle, struct diagnosis *ret)
{
	const struct events_query wait = {
		.series = s,
		.values = stall_waits(s, f),
		.mask = SERIES_STARVED,
	};
	bool is_partial = !s->wait_ns || !s->compute_ns;
	struct events_query of_wait =
		is_partial ? excess(s, s->wait_ns, EXCESS_FLOOR_NS, NAN) : wait;
	struct events_query of_compute, of_load = excess(s, s->load_ns, 0, NAN);
	double time_ns = f->wait_all_ns + f->compute_all_ns;
	int r;

	ret->steps_only = is_partial && !s->compute_ns && s->step_ns;
	of_compute = excess(s,
			    ret->steps_only ? s->step_ns
			    : gpu_idle      ? gpu_idle
					    : s->compute_ns,
			    EXCESS_FLOOR_NS, gpu_idle ? NAN : f->compute_median_ns);
	of_compute.slips = ret->steps_only;
	/* If steps only queue work for the GPU, long steps await earlier work: no pauses. */
	if (s->synchronous == 0)
		of_compute.values = NULL;
	/* Batches pile up in a long step. Later waits may be at another phase of their period. */
	of_wait.breaks = &of_compute;
	r = period_find(&of_wait, &ret->wait);
	if (r == 0)
		r = period_find(&of_compute, &ret->compute);
	if (r == 0)
		r = period_find(&of_load, &ret->load);
	ret->load.gradual = ret->load.batches && is_gradual(&of_load);
	ret->wait_timer.period_ns = ret->compute_timer.period_ns = NAN;
	if (of_wait.values && ret->wait.event_count > TIMER_LEAST)
		events_find_timer(&of_wait, &ret->wait_timer);
	if (of_compute.values && ret->compute.event_count > TIMER_LEAST)
		events_find_timer(&of_compute, &ret->compute_timer);
	ret->compute_share = NAN;
	if (ret->compute.regular && time_ns > 0)
		ret->compute_share = ret->compute.cost_ns / time_ns;
	else if (!isnan(ret->compute_timer.period_ns) && time_ns > 0)
		ret->compute_share = ret->compute.events_ns / time_ns;
	return r;
}

/* Of the cores that other programs leave, returns the share that loads and their programs use. */
static double cpu_share(const struct batch_series *s, const struct finding *f,
			const struct load_facts *facts)
{
	const double loads_per_ns = (double)f->steady_count / f->steady_ns;
	double children = 0;

	if (!(s->cores > 0))
		return NAN;
	if (facts && facts->children_cores > 0)
		children = facts->children_cores * stall_loads_at_once(f);
	return (series_load_cpu_ns(s) * loads_per_ns + children) /
	       fmin(series_free_cores(s), s->cores);
}

/* Returns false if loads compute or wait for a core, so that storage cannot explain their time. */
static bool may_be_cold(const struct batch_series *s, const struct finding *f,
			const struct diagnosis *d)
{
	const struct grounds *r = &d->grounds;
	const double share = 1 - r->cpu_share - r->no_core_share;

	return !(f->load_mean_ns * (double)s->count * share < COLD_OFF_CPU * d->cold.excess_ns);
}

/*
 * Returns true if loads wait for another process or machine, and hardly for a core. If that process
 * is on this machine, its CPU time is among that of other programs.
 */
static bool is_waiting_outside(const struct grounds *r)
{
	return r->asked_share >= GROUNDS_OUTSIDE && r->no_core_share < GROUNDS_KEPT &&
	       !r->starts_programs;
}

static enum cause cause_of(enum split_owner owner, const struct diagnosis *d)
{
	static const enum cause causes[SPLIT_MAX] = {
		[SPLIT_CAPACITY] = CAUSE_LOADER_CAPACITY,
		[SPLIT_SLOW_WORKER] = CAUSE_SLOW_WORKER,
		[SPLIT_PERIODIC] = CAUSE_PERIODIC_SLOW_LOAD,
		[SPLIT_HEAD_OF_LINE] = CAUSE_HEAD_OF_LINE,
		[SPLIT_INTERMITTENT] = CAUSE_INTERMITTENT_LOADER,
		[SPLIT_COLD] = CAUSE_COLD_CACHE,
		[SPLIT_ISOLATED] = CAUSE_ISOLATED_STALL,
		[SPLIT_SINGLE] = CAUSE_SINGLE_PROCESS,
		[SPLIT_UNSEEN] = CAUSE_UNSEEN_LOADER,
	};
	static const enum cause of_stages[STAGE_LIMIT_MAX] = {
		[STAGE_LIMIT_WORK] = CAUSE_SLOW_STAGE,
		[STAGE_LIMIT_POOL] = CAUSE_NARROW_POOL,
		[STAGE_LIMIT_SERIAL] = CAUSE_SERIAL_STAGE,
		[STAGE_LIMIT_PREFETCH] = CAUSE_NO_PREFETCH,
		[STAGE_LIMIT_FILLING] = CAUSE_FILLING_CACHE,
	};

	if (owner == SPLIT_UNSEEN && d->stages.limit != STAGE_LIMIT_UNKNOWN)
		return of_stages[d->stages.limit];
	if (owner == SPLIT_SINGLE && d->grounds.has_inner)
		return CAUSE_INNER_LOADER;
	if (owner == SPLIT_CAPACITY && d->cpu_share >= CPU_FULL && !is_waiting_outside(&d->grounds))
		return CAUSE_CPU_CONTENTION;
	return causes[owner];
}

/* Returns true if a run with fewer workers, each on a core of its own, should be replayed. */
static bool may_be_uncrowded(const struct batch_series *s, const struct diagnosis *d)
{
	return d->grounds.is_crowded && isnan(d->whatif.gain[WHATIF_FEWER_WORKERS]) &&
	       !series_has_others(s);
}

static bool has_many_workers(const struct batch_series *s)
{
	return s->workers > 1 && s->workers >= FEWER_CORES * s->cores;
}

/*
 * Returns true if the replay with fewer workers is surely faster than the run. If no replay is
 * possible, returns true if loads crowd the cores and half of the workers would be enough.
 */
static bool should_be_fewer(const struct batch_series *s, const struct finding *f,
			    const struct diagnosis *d)
{
	const struct whatif *whatif = &d->whatif;

	if (!has_many_workers(s))
		return false;
	if (whatif->gap != WHATIF_GAP_NONE)
		return d->grounds.is_crowded && !series_has_others(s) && f->rho <= 0.5;
	return whatif->gain[WHATIF_FEWER_WORKERS] >= ADVICE_GAIN &&
	       whatif->low_per_s[WHATIF_FEWER_WORKERS] > whatif->batches_per_s[WHATIF_BASELINE];
}

static enum cause with_fewer(const struct batch_series *s, const struct finding *f,
			     const struct diagnosis *d, enum cause cause)
{
	return (cause == CAUSE_CPU_CONTENTION || cause == CAUSE_EPOCH_START) &&
			       should_be_fewer(s, f, d)
		       ? CAUSE_TOO_MANY_WORKERS
		       : cause;
}

/* Adds a cost to a cause in the list, which is sorted by cost from entry `first` on. */
static void insert_cause(struct diagnosis *d, size_t first, enum cause cause, double ns,
			 double time_ns)
{
	struct cause_cost cost = {cause, ns, ns / time_ns};
	size_t at;

	if (!(ns > 0))
		return;
	for (at = 0; at < d->cause_count && d->causes[at].cause != cause; at++)
		;
	if (at < d->cause_count) {
		cost.ns += d->causes[at].ns;
		cost.share += d->causes[at].share;
		memmove(&d->causes[at], &d->causes[at + 1],
			(--d->cause_count - at) * sizeof(d->causes[0]));
	}
	for (at = d->cause_count++; at > first && d->causes[at - 1].ns < cost.ns; at--)
		d->causes[at] = d->causes[at - 1];
	d->causes[at] = cost;
}

static void add_cause(struct diagnosis *d, enum cause cause, double ns, double time_ns)
{
	insert_cause(d, 0, cause, ns, time_ns);
}

/*
 * Returns true if periodic long steps have nearly all time of the steps. Then a long step is made
 * of several batches, and the short "steps" before it only gather these.
 */
static bool is_gathered(const struct finding *f, const struct period *compute)
{
	return compute->regular && compute->cost_ns > GATHERED_SHARE * f->compute_all_ns;
}

/* Returns true if long steps are no pauses: gradients are accumulated, or batches gathered. */
static bool is_accumulation(const struct finding *f, const struct period *compute)
{
	return is_gathered(f, compute) ||
	       (compute->regular && compute->batches <= ACCUMULATED_MOST &&
		compute->cost_ns > ACCUMULATED_SHARE * f->compute_all_ns);
}

static double logging_ns(const struct cause_input *input)
{
	const struct line_share *line = lines_leading(input->lines, LINE_AFTERS);
	double after_ns;

	if (!line || !input->step || !input->step->is_split || !input->step->has_optimizer ||
	    input->has_gpu)
		return 0;
	after_ns = input->step->ns[STEP_AFTER];
	if (!input->lines->groups[LINE_AFTERS].has_gaps)
		after_ns -= fmax(input->step->between_epochs_ns, 0);
	return fmax(line->share, line->of_function) * after_ns;
}

/*
 * Returns the time of the steps' longest line (lines_of_step()), less its error; 0: there is none.
 * Returns 0 also if the steps' parts are known, as that line is often the backward pass, or if a
 * GPU is used, as the line may only be waiting for the GPU.
 */
static double step_line_ns(const struct finding *f, const struct cause_input *input)
{
	const struct line_share *line = lines_of_step(input->lines, f->stall_ratio);

	if (!line || !f->starved || input->has_gpu || (input->step && input->step->is_split))
		return 0;
	return (line->share - line->error) * f->account.step_ns;
}

/* Returns the time, less its error, in which an iterator around the loader works on batches. */
static double around_ns(const struct batch_series *s, const struct finding *f,
			const struct cause_input *input)
{
	const struct line_part *around = input->lines ? &input->lines->around : NULL;

	/* An iterator that has nearly all of the steps also runs the training itself. */
	if (!around || !(s->workers > 0) || input->has_gpu || around->share > LINE_IS_STEP)
		return 0;
	return (around->share - around->error) * f->account.step_ns;
}

/*
 * Inserts a cause that may go before all waiting. If it takes longer than all waiting, inserts it
 * at the front, and returns true. Else inserts it from index `first` on.
 */
static bool insert_outside(const struct finding *f, struct diagnosis *d, size_t first,
			   enum cause cause, double ns)
{
	const bool is_front = first && ns > f->account.wait_ns;

	insert_cause(d, is_front ? 0 : first, cause, ns, f->account.time_ns);
	return is_front;
}

/*
 * Adds the causes that lengthen steps. Saving and logging are causes of their own, whose time does
 * not count as long steps. If the verdict is HIGHLY, all causes of waiting stay before these. Only
 * saving, or work between epochs or around the loader, may go first, if it takes longer than all
 * waiting.
 */
static void add_pauses(const struct batch_series *s, const struct finding *f,
		       const struct cause_input *input, struct diagnosis *d)
{
	const double time_ns = f->account.time_ns, line_ns = step_line_ns(f, input);
	const double iterator_ns = around_ns(s, f, input);
	size_t first = f->verdict == STALL_VERDICT_HIGHLY ? d->cause_count : 0;
	const bool is_split = input->step && input->step->is_split;
	double pauses_ns = d->compute_share * (f->wait_all_ns + f->compute_all_ns);
	double save_ns = is_split ? input->step->ns[STEP_SAVE] : 0, log_ns = logging_ns(input);

	if (!(d->compute_share >= CAUSE_COST_LEAST) || is_accumulation(f, &d->compute))
		pauses_ns = 0;
	if (pauses_ns - save_ns - log_ns < fmax(CAUSE_COST_LEAST * time_ns, pauses_ns / 2))
		pauses_ns = 0;
	if (save_ns >= CAUSE_COST_LEAST * time_ns)
		first += insert_outside(f, d, first, CAUSE_SAVING, save_ns);
	if (log_ns >= LOGGING_LEAST * time_ns && lines_lead_in_gaps(input->lines))
		first += insert_outside(f, d, first, CAUSE_LOGGING, log_ns);
	else if (log_ns >= LOGGING_LEAST * time_ns)
		insert_cause(d, first, CAUSE_LOGGING, log_ns, time_ns);
	if (iterator_ns >= LOGGING_LEAST * time_ns)
		first += insert_outside(f, d, first, CAUSE_AROUND_LOADER, iterator_ns);
	if (d->grounds.steps_held.share > 0)
		insert_cause(d, first, CAUSE_STEPS_HELD,
			     (d->grounds.steps_held.share - d->grounds.steps_held.error) *
				     f->account.step_ns,
			     time_ns);
	if (pauses_ns > 0)
		insert_cause(d, first, CAUSE_MAIN_THREAD_PERIODIC, pauses_ns, time_ns);
	if (line_ns - pauses_ns > f->account.wait_ns)
		insert_cause(d, first, CAUSE_STEP_LINE, line_ns - pauses_ns, time_ns);
}

/* Returns true if the training takes more batches at once than workers keep ready for it. */
static bool is_burst(const struct batch_series *s, const struct diagnosis *d)
{
	return s->workers > 0 && d->burst > (int64_t)series_ahead(s) * s->workers;
}

static enum cause cause_of_pool(const struct batch_series *s, const struct finding *f,
				const struct diagnosis *d, enum split_owner owner)
{
	const enum cause cause =
		with_fewer(s, f, d, grounds_cause(&d->grounds, s, cause_of(owner, d)));

	if (f->rho < 1 && is_burst(s, d) &&
	    (cause == CAUSE_UNEXPLAINED || cause == CAUSE_INTERMITTENT_LOADER ||
	     cause == CAUSE_HEAD_OF_LINE))
		return CAUSE_BURSTS;
	return cause;
}

static double later_setup_ns(const struct batch_series *s)
{
	double ns = 0;

	for (size_t i = 1; i < s->epoch_count; i++)
		ns += fmax(0, (double)s->epochs[i].setup_ns);
	return ns;
}

/* Adds the epochs' starts as a cause. Choosing samples in them is a cause of its own. */
static void add_starts(const struct batch_series *s, const struct finding *f,
		       const struct lines *lines, struct diagnosis *d)
{
	const double *part_ns = f->account.part_ns, time_ns = f->account.time_ns;
	/* Only stack samples show that __iter__() of the sampler chose samples: no record does. */
	const double sampling_ns =
		fmax(f->account.start_sampling_ns,
		     lines && lines->least_sampling > 0
			     ? fmin(lines->least_sampling * part_ns[ACCOUNT_EPOCH_START],
				    later_setup_ns(s))
			     : NAN);
	double known_ns = part_ns[ACCOUNT_EPOCH_START] + part_ns[ACCOUNT_EPOCH_END];

	if (sampling_ns > 0 && sampling_ns >= START_SAMPLED * part_ns[ACCOUNT_EPOCH_START]) {
		d->start_sampling_ns = sampling_ns;
		known_ns -= sampling_ns;
		add_cause(d, grounds_cause(&d->grounds, s, CAUSE_SAMPLER), sampling_ns, time_ns);
	}
	add_cause(d, with_fewer(s, f, d, CAUSE_EPOCH_START), known_ns, time_ns);
}

/*
 * Adds receiving as a cause. If workers load too slowly (rho >= 1), the training would wait even if
 * they answered its requests for descriptors at once. So late answers cost only the time that
 * prompt answers would save, and the workers' capacity costs the rest.
 */
static void add_delivery(const struct batch_series *s, const struct finding *f, double ns,
			 struct diagnosis *d)
{
	const enum cause cause = grounds_cause(&d->grounds, s, CAUSE_DELIVERY);
	const double time_ns = f->account.time_ns, gain = d->whatif.gain[WHATIF_SHARING];
	double own_ns = ns, least_ns;

	if (cause == CAUSE_WORKER_INTERPRETER && f->rho >= 1) {
		least_ns = f->load_mean_ns / series_busy_workers(s) * (double)f->batch_count;
		own_ns = fmin(ns, fmax(0, time_ns - least_ns));
		if (d->whatif.gap == WHATIF_GAP_NONE && !isnan(gain))
			own_ns = fmin(own_ns, time_ns * fmax(0, 1 - 1 / (1 + gain)));
		add_cause(d, cause_of_pool(s, f, d, SPLIT_CAPACITY), ns - own_ns, time_ns);
	}
	add_cause(d, cause, own_ns, time_ns);
}

static void list_causes(const struct batch_series *s, const struct finding *f,
			const struct cause_input *input, const double *shares,
			struct diagnosis *d)
{
	const double *part_ns = f->account.part_ns;
	double time_ns = f->account.time_ns, pool_ns = f->own.part_ns[ACCOUNT_NOT_READY];
	const double asked_ns = grounds_is_asking(&d->grounds)
					? part_ns[ACCOUNT_RECEIVING] * d->uneven.wait_share
					: 0;

	if (f->starved) {
		add_starts(s, f, input->lines, d);
		add_delivery(s, f, fmax(0, part_ns[ACCOUNT_RECEIVING] - asked_ns -
					   d->passes.received_ns), d);
		add_cause(d, grounds_cause(&d->grounds, s, CAUSE_SAMPLER),
			  part_ns[ACCOUNT_SAMPLING], time_ns);
		if (isnan(pool_ns))
			pool_ns = f->own.wait_ns - f->own.part_ns[ACCOUNT_EPOCH_START] -
				  f->own.part_ns[ACCOUNT_EPOCH_END] -
				  fmax(0, f->own.part_ns[ACCOUNT_SAMPLING]);
		add_cause(d, CAUSE_SKIPPED_BATCHES, pool_ns * d->skipped.wait_share, time_ns);
		pool_ns *= 1 - d->skipped.wait_share;
		add_cause(d, CAUSE_IDLE_PASSES, d->passes.not_ready_ns + d->passes.received_ns,
			  time_ns);
		pool_ns = fmax(0, pool_ns - d->passes.not_ready_ns);
		add_cause(d, CAUSE_UNEVEN_SHARDS, asked_ns + pool_ns * d->uneven.wait_share,
			  time_ns);
		pool_ns *= 1 - d->uneven.wait_share;
		for (enum split_owner owner = 0; owner < SPLIT_MAX; owner++) {
			const bool is_warm = owner == SPLIT_COLD && !may_be_cold(s, f, d);

			add_cause(d, cause_of_pool(s, f, d, is_warm ? SPLIT_CAPACITY : owner),
				  pool_ns * shares[owner], time_ns);
		}
		while (d->cause_count > 1 && d->causes[d->cause_count - 1].share < CAUSE_COST_LEAST)
			d->cause_count--;
	}
	add_pauses(s, f, input, d);
	d->cause = d->cause_count ? d->causes[0].cause : CAUSE_NONE;
	d->second = d->cause_count > 1 && d->causes[1].ns >= CAUSE_SECOND * d->causes[0].ns
			    ? d->causes[1].cause
			    : CAUSE_UNKNOWN;
}

static double longest_epoch(const struct batch_series *s)
{
	struct series_walk e = {0};
	double longest = 0;

	while (series_walk_epochs(s, &e))
		longest = fmax(longest, (double)(e.end - e.begin));
	return longest / (double)s->count;
}

/* Finds the mean waits of the first and of later epochs, without the batches that begin them. */
static void split_waits(const struct batch_series *s, struct stages_facts *facts)
{
	struct series_place at = SERIES_BEGIN;
	double ns[2] = {0}, count[2] = {0};

	while (series_next(s, &at)) {
		const bool is_later = at.epoch != s->runs[0].epoch;

		if (at.batch == 0 || !series_has(s->wait_ns, at.i))
			continue;
		ns[is_later] += (double)s->wait_ns[at.i];
		count[is_later]++;
	}
	facts->first_ns = count[0] > 0 ? ns[0] / count[0] : NAN;
	facts->later_ns = count[1] > 0 ? ns[1] / count[1] : NAN;
}

static void find_stages(const struct batch_series *s, const struct finding *f,
			const struct stages *stages, struct stage_finding *ret)
{
	static const struct stages none;
	size_t next = 0;
	const struct account_restart restart = account_restart(s, &next, INT32_MAX);
	/* Time to make and destroy iterators counts in step_ns, as no faster stage shortens it. */
	const double restart_ns = restart.start_ns + restart.end_ns;
	struct stages_facts facts = {
		.wait_ns = fmax(f->own.wait_ns - restart_ns, 0) / (double)f->own.count,
		.step_ns = (f->own.step_ns + restart_ns) / (double)f->own.count,
		.cores = s->cores,
		.free_cores = series_free_cores(s),
		.used_cores = s->main_cores,
		.longest_epoch = longest_epoch(s),
	};

	split_waits(s, &facts);
	if (stages && stages->is_later)
		facts.wait_ns = facts.later_ns;
	stages_judge(stages && f->starved ? stages : &none, &facts, ret);
}

/* Returns the largest share of setup_ns in which samples may have been chosen; 1: unknown. */
static double most_sampling(const struct batch_series *s, const struct finding *f,
			    const struct lines *lines)
{
	const double setup_ns = later_setup_ns(s);
	const double most_ns =
		lines ? lines->most_sampling * f->own.part_ns[ACCOUNT_EPOCH_START] : NAN;

	return most_ns < setup_ns ? most_ns / setup_ns : 1;
}

/* Returns how many batches a second all workers can load, however many they are; NAN: no limit. */
static double shared_per_s(const struct batch_series *s, const struct finding *f,
			   const struct grounds *r)
{
	if (isnan(r->shared_per_s) && r->takes_turns)
		return 1e9 * series_busy_workers(s) / f->load_mean_ns;
	return r->shared_per_s;
}

int cause_find(const struct batch_series *s, const struct finding *f,
	       const struct cause_input *input, struct diagnosis *ret)
{
	const bool advises = !input || !input->is_bare;
	static const struct cause_input nothing;
	float *gpu_idle = NULL;
	double shares[SPLIT_MAX];
	struct trace trace;
	int r;

	if (!input)
		input = &nothing;
	*ret = (struct diagnosis){.cpu_share = NAN, .slow = {.worker = -1}};
	r = list_gpu_idle(s, f, &gpu_idle);
	if (r == 0)
		r = find_periods(s, f, gpu_idle, ret);
	free(gpu_idle);
	if (r == 0)
		r = slow_find(s, f, input->work, &ret->slow);
	if (r == 0)
		r = boot_stall_ratio(s, f, &ret->boot);
	if (r < 0)
		return r;
	if (is_gathered(f, &ret->compute))
		ret->burst = ret->compute.batches;
	/* Batches of several samples have a step each, which only accumulates the gradient. */
	if (ret->burst >= GATHERED_MANY && !(input->batch_size > 1))
		ret->gathered = ret->burst;
	grounds_find(s, f, input, &ret->grounds);
	/* If workers share a limit, shards of equal size gain nothing. */
	if (isnan(ret->grounds.shared_per_s))
		uneven_find(s, f, grounds_is_asking(&ret->grounds), &ret->uneven);
	skipped_find(s, f, input->has_gpu, &ret->skipped);
	skipped_find_passes(s, f, input->has_gpu, &ret->passes);
	split_find(s, f, ret, shares);
	ret->cpu_share = cpu_share(s, f, input->facts);
	find_stages(s, f, input->stages, &ret->stages);
	if (advises ||
	    (f->starved && (has_many_workers(s) || grounds_is_asking(&ret->grounds)))) {
		const struct whatif_known known = {.facts = input->facts,
						   .shared_per_s = shared_per_s(
							   s, f, &ret->grounds),
						   .is_uneven = ret->uneven.loading > 0,
						   .is_threads = input->is_threads,
						   .is_from_device = input->loads &&
								     load_reads_devices(
									     input->loads),
						   .burst = ret->burst,
						   .most_sampling =
							   most_sampling(s, f, input->lines)};

		r = take_trace(s, f, &trace);
		if (r == 0)
			r = whatif_predict(s, f, &trace, &known, &ret->whatif);
		trace_done(&trace);
		if (r == 0 && may_be_uncrowded(s, ret))
			r = whatif_uncrowd(s, f, ret->grounds.unseen_share, &ret->whatif);
	}
	/* No cause is given without a verdict, or if perhaps another thread did the waiting. */
	if (r == 0 && f->gap == STALL_GAP_NONE && !f->is_doubtful)
		list_causes(s, f, input, shares, ret);
	if (ret->cause == CAUSE_TOO_MANY_WORKERS && ret->whatif.gap != WHATIF_GAP_NONE)
		ret->whatif.fewer_workers = (int32_t)ceil(s->cores);
	if (r < 0 || !advises)
		return r;
	r = advice_give(s, f, input, ret);
	useless_find(s, f, ret);
	return r;
}
