/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats.h"

#define EXCESS_SHARE      0.5 /* of the median: what is longer than normal by so much is an event */
#define EXCESS_FLOOR_NS   2e6
#define SLOW_FACTOR       1.3
#define SLOW_Z            4.0
#define SLOW_SHARE        0.5
#define COLD_FACTOR       1.3
#define CPU_FULL          0.85
#define QUEUED_MOST       0.5
#define CAPACITY          1.0
#define CAPACITY_MARGINAL 0.9
#define FEWEST_EPOCHS     2 /* one start alone is no finding */

const char *cause_name(enum cause cause)
{
	static const char *const names[CAUSE_MAX] = {
		[CAUSE_NONE] = "none",
		[CAUSE_LOADER_CAPACITY] = "loader_capacity",
		[CAUSE_CPU_CONTENTION] = "cpu_contention",
		[CAUSE_SLOW_WORKER] = "slow_worker",
		[CAUSE_PERIODIC_SLOW_LOAD] = "periodic_slow_load",
		[CAUSE_HEAD_OF_LINE] = "head_of_line",
		[CAUSE_INTERMITTENT_LOADER] = "intermittent_loader",
		[CAUSE_COLD_CACHE] = "cold_cache",
		[CAUSE_EPOCH_START] = "epoch_start",
		[CAUSE_DELIVERY] = "delivery",
		[CAUSE_ISOLATED_STALL] = "isolated_stall",
		[CAUSE_MAIN_THREAD_PERIODIC] = "main_thread_periodic",
		[CAUSE_SINGLE_PROCESS] = "single_process",
		[CAUSE_UNSEEN_LOADER] = "unseen_loader",
	};

	return names[cause];
}

/* Events of a column: what exceeds its median by so much. */
static struct period_query excess(const struct batch_series *s, const float *values,
				  double floor_ns, double median_ns)
{
	struct period_query query = {.series = s, .values = values};
	struct stats_column column = {values, s->state, s->count};

	if (s->wait_ns && s->compute_ns)
		query.mask = query.want = column.mask = column.want = SERIES_STEADY;
	else
		query.from_start = true;
	if (values)
		query.offset_ns = isnan(median_ns) ? stats_median(&column) : median_ns;
	if (isnan(query.offset_ns))
		query.values = NULL;
	query.theta_ns = EXCESS_SHARE * query.offset_ns + floor_ns;
	return query;
}

/*
 * What a step takes beyond its normal: by the host its compute, by the GPU's clock the time that
 * the GPU was idle and no wait was to blame, as a host that waits for a busy GPU stops nothing.
 */
static int list_others(const struct batch_series *s, const struct finding *f, float **ret)
{
	size_t i;

	*ret = NULL;
	if (!f->by_gpu || !s->gpu_busy_ns || s->synchronous == 0)
		return 0;
	*ret = malloc(s->count * sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (i = 0; i < s->count; i++)
		(*ret)[i] = s->gpu_busy_ns[i] >= 0
				    ? (float)fmax(0, stall_demand_ns(s, f, i) -
							     (double)s->gpu_busy_ns[i])
				    : NAN;
	return 0;
}

static int find_periods(const struct batch_series *s, const struct finding *f, const float *others,
			struct diagnosis *ret)
{
	const struct period_query wait = {
		.series = s,
		.values = stall_waits(s, f),
		.mask = SERIES_STARVED,
		.want = SERIES_STARVED,
	};
	bool is_partial = !s->wait_ns || !s->compute_ns;
	struct period_query of_wait =
		is_partial ? excess(s, s->wait_ns, EXCESS_FLOOR_NS, NAN) : wait;
	struct period_query of_compute, of_load = excess(s, s->load_ns, 0, NAN);
	double time_ns = f->wait_all_ns + f->compute_all_ns;
	int r;

	ret->steps_only = is_partial && !s->compute_ns && s->step_ns;
	of_compute = excess(s,
			    ret->steps_only ? s->step_ns
			    : others        ? others
					    : s->compute_ns,
			    EXCESS_FLOOR_NS, others ? NAN : f->compute_median_ns);
	of_compute.slips = ret->steps_only;
	/* Steps that wait for the GPU now and then are long in turn for those that do not. */
	if (s->synchronous == 0)
		of_compute.values = NULL;
	/* While the training pauses, batches pile up: the rhythm of the waits begins anew. */
	of_wait.breaks = &of_compute;
	r = period_find(&of_wait, &ret->wait);
	if (r == 0)
		r = period_find(&of_compute, &ret->compute);
	if (r == 0)
		r = period_find(&of_load, &ret->load);
	ret->wait_timer.period_ns = ret->compute_timer.period_ns = NAN;
	if (of_wait.values && ret->wait.event_count > TIMER_LEAST)
		period_find_timer(&of_wait, &ret->wait_timer);
	if (of_compute.values && ret->compute.event_count > TIMER_LEAST)
		period_find_timer(&of_compute, &ret->compute_timer);
	ret->compute_share = NAN;
	if (ret->compute.regular && time_ns > 0)
		ret->compute_share = ret->compute.cost_ns / time_ns;
	else if (!isnan(ret->compute_timer.period_ns) && time_ns > 0)
		ret->compute_share = ret->compute.events_ns / time_ns;
	return r;
}

/* Stall time by worker; the one with most. */
static int32_t find_suspect(const struct batch_series *s, const struct finding *f,
			    double *ret_share)
{
	const float *waits = stall_waits(s, f);
	double *stall_ns = calloc((size_t)s->workers, sizeof(*stall_ns));
	int32_t best = 0, w;
	size_t i;

	if (!stall_ns)
		return -ENOMEM;
	for (i = 0; i < s->count; i++)
		if (s->state[i] & SERIES_STARVED && s->worker[i] >= 0 && s->worker[i] < s->workers)
			stall_ns[s->worker[i]] += (double)waits[i];
	for (w = 1; w < s->workers; w++)
		if (stall_ns[w] > stall_ns[best])
			best = w;
	*ret_share = stall_ns[best] / f->wait_starved_ns;
	free(stall_ns);
	return best;
}

static double median_where(const struct trace *t, int32_t worker, bool same, float *scratch,
			   struct stats_moments *logs)
{
	struct stats_column column = {scratch, NULL, 0};
	size_t i;

	for (i = 0; i < t->count; i++) {
		int16_t which = t->worker[i];
		double ns = (double)t->load_ns[i];

		if (which < 0 || (which == worker) != same)
			continue;
		if ((size_t)which < t->factor_count)
			ns *= t->factors[which];
		scratch[column.count++] = (float)ns;
		if (ns > 0)
			stats_add(logs, log(ns));
	}
	return stats_median(&column);
}

/* analysis.md 3.7; the phase alone cannot tell, as workers in step always stall at the same one. */
static int find_slow_worker(const struct batch_series *s, const struct finding *f,
			    const struct trace *t, struct slow_worker *ret)
{
	struct stats_moments own = {0}, others = {0};
	int32_t suspect;
	float *scratch;

	*ret = (struct slow_worker){.worker = -1, .factor = NAN, .z = NAN, .share = NAN};
	if (!f->starved || s->workers < 2 || s->workers > REPLAY_WORKERS || !t->count)
		return 0;
	suspect = find_suspect(s, f, &ret->share);
	if (suspect < 0)
		return suspect;
	scratch = malloc(t->count * sizeof(*scratch));
	if (!scratch)
		return -ENOMEM;
	ret->factor = median_where(t, suspect, true, scratch, &own) /
		      median_where(t, suspect, false, scratch, &others);
	ret->z = replay_welch(&own, &others);
	free(scratch);
	if (ret->factor >= SLOW_FACTOR && ret->z >= SLOW_Z && ret->share >= SLOW_SHARE)
		ret->worker = suspect;
	return 0;
}

static void find_cold(const struct batch_series *s, const struct finding *f, struct cold *ret)
{
	struct part {
		double load_ns, stall_ns, time_ns;
		size_t loads;
	} parts[2] = {0};
	const float *waits = stall_waits(s, f);
	size_t run, i;

	*ret = (struct cold){NAN, NAN, NAN, NAN};
	for (run = 0; run < s->run_count; run++) {
		struct part *part = &parts[s->runs[run].epoch != s->runs[0].epoch];

		for (i = s->runs[run].begin; i < series_run_end(s, run); i++) {
			if (!(s->state[i] & SERIES_STEADY))
				continue;
			part->time_ns += (double)s->wait_ns[i] + (double)s->compute_ns[i];
			if (s->state[i] & SERIES_STARVED)
				part->stall_ns += (double)waits[i];
			if (s->load_ns && s->load_ns[i] >= 0) {
				part->load_ns += (double)s->load_ns[i];
				part->loads++;
			}
		}
	}
	if (!parts[0].loads || !parts[1].loads || s->runs[0].epoch != 0)
		return;
	ret->first_load_ns = parts[0].load_ns / (double)parts[0].loads;
	ret->later_load_ns = parts[1].load_ns / (double)parts[1].loads;
	ret->first_ratio = parts[0].stall_ns / parts[0].time_ns;
	ret->later_ratio = parts[1].stall_ns / parts[1].time_ns;
	ret->found = ret->first_load_ns >= COLD_FACTOR * ret->later_load_ns &&
		     ret->first_ratio >= STALL_MODERATE && ret->later_ratio < STALL_MODERATE;
}

/* Stall time of batches while others were ready, of those of which that is known. */
static double queued_share(const struct batch_series *s, const struct finding *f)
{
	const unsigned known = SERIES_STARVED | SERIES_QUEUE_KNOWN;
	const float *waits = stall_waits(s, f);
	double queued_ns = 0, all_ns = 0;
	size_t i;

	for (i = 0; i < s->count; i++) {
		if ((s->state[i] & known) != known)
			continue;
		all_ns += (double)waits[i];
		if (s->state[i] & SERIES_QUEUE)
			queued_ns += (double)waits[i];
	}
	return all_ns > 0 ? queued_ns / all_ns : NAN;
}

/* CPU time of the workers in a second, over the cores that other programs leave. */
static double cpu_share(const struct batch_series *s, const struct finding *f)
{
	if (!s->load_cpu_count || !(s->cores > 0))
		return NAN;
	return s->load_cpu_ns / (double)s->load_cpu_count * (double)f->steady_count / f->steady_ns /
	       series_free_cores(s);
}

/* Shard openings and the like: in the loads themselves, or every so many rounds of the workers. */
static bool is_periodic_load(const struct batch_series *s, const struct diagnosis *d)
{
	const struct period *wait = &d->wait, *load = &d->load;

	if (wait->regular && s->workers > 1 && wait->batches > s->workers &&
	    wait->batches % s->workers == 0)
		return true;
	if (!load->batches || load->batches == s->workers)
		return false;
	return load->regular || (wait->batches && (wait->batches % load->batches == 0 ||
						   load->batches % wait->batches == 0));
}

static enum cause cause_of_starving(const struct batch_series *s, const struct finding *f,
				    const struct diagnosis *d)
{
	if (s->workers == 0)
		return CAUSE_SINGLE_PROCESS;
	if (d->cold.found)
		return CAUSE_COLD_CACHE;
	if (d->slow.worker >= 0)
		return CAUSE_SLOW_WORKER;
	if (f->rho >= CAPACITY)
		return d->cpu_share >= CPU_FULL ? CAUSE_CPU_CONTENTION : CAUSE_LOADER_CAPACITY;
	if (is_periodic_load(s, d))
		return CAUSE_PERIODIC_SLOW_LOAD;
	if (d->queued_share >= QUEUED_MOST && s->in_order != 0)
		return CAUSE_HEAD_OF_LINE;
	if (f->rho >= CAPACITY_MARGINAL)
		return d->cpu_share >= CPU_FULL ? CAUSE_CPU_CONTENTION : CAUSE_LOADER_CAPACITY;
	return isnan(f->load_mean_ns) ? CAUSE_UNSEEN_LOADER : CAUSE_INTERMITTENT_LOADER;
}

static enum cause cause_of_the_rest(const struct finding *f, const struct diagnosis *d)
{
	if (d->cold.found)
		return CAUSE_COLD_CACHE;
	/* Where the GPU had work all the time, long waits of the host are none of its stalls. */
	if (f->stall_ratio >= STALL_MODERATE && isnan(f->drain_ratio))
		return CAUSE_ISOLATED_STALL;
	if (account_restart_share(&f->account) >= STALL_MODERATE && f->epoch_count >= FEWEST_EPOCHS)
		return CAUSE_EPOCH_START;
	if (f->account.share[ACCOUNT_RECEIVING] >= STALL_MODERATE)
		return CAUSE_DELIVERY;
	if (d->compute_share >= CAUSE_COST_LEAST)
		return CAUSE_MAIN_THREAD_PERIODIC;
	return CAUSE_NONE;
}

/* What most of the waiting is. */
static enum cause find_cause(const struct batch_series *s, const struct finding *f,
			     const struct diagnosis *d)
{
	double restart = account_restart_share(&f->account);
	double receiving = f->account.share[ACCOUNT_RECEIVING];
	double not_ready = f->account.share[ACCOUNT_NOT_READY];

	if (!f->starved)
		return cause_of_the_rest(f, d);
	if (restart > not_ready && !(receiving > restart))
		return CAUSE_EPOCH_START;
	return receiving > not_ready ? CAUSE_DELIVERY : cause_of_starving(s, f, d);
}

/* Share of all time that goes with the cause, for those that the replay cannot price. */
static double lost_share(const struct finding *f, const struct diagnosis *d)
{
	if (d->cause == CAUSE_MAIN_THREAD_PERIODIC)
		return d->compute_share;
	if (d->cause == CAUSE_COLD_CACHE)
		return f->stall_ratio;
	return NAN;
}

static int find(const struct batch_series *s, const struct finding *f, const struct gpu_use *gpu,
		bool predicts, struct diagnosis *ret)
{
	float *others = NULL;
	struct trace trace;
	int r;

	*ret = (struct diagnosis){.cpu_share = NAN, .queued_share = NAN};
	r = trace_init(s, f, &trace);
	if (r == 0)
		r = list_others(s, f, &others);
	if (r == 0)
		r = find_periods(s, f, others, ret);
	free(others);
	if (r == 0)
		r = find_slow_worker(s, f, &trace, &ret->slow);
	if (r == 0)
		r = boot_stall_ratio(s, f, &ret->boot);
	if (r == 0 && predicts)
		r = whatif_predict(s, f, &trace, &ret->whatif);
	if (r == 0) {
		find_cold(s, f, &ret->cold);
		ret->cpu_share = cpu_share(s, f);
		ret->queued_share = queued_share(s, f);
		if (f->gap == STALL_GAP_NONE)
			ret->cause = find_cause(s, f, ret);
		if (predicts)
			advice_give(ret->cause, s, f, &ret->whatif, gpu, lost_share(f, ret),
				    &ret->advice);
	}
	trace_done(&trace);
	return r;
}

int cause_find(const struct batch_series *s, const struct finding *f, const struct gpu_use *gpu,
	       struct diagnosis *ret)
{
	return find(s, f, gpu, true, ret);
}

int cause_find_bare(const struct batch_series *s, const struct finding *f, struct diagnosis *ret)
{
	return find(s, f, NULL, false, ret);
}
