/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/predict/whatif.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/predict/crowd.h"
#include "analysis/predict/needed.h"
#include "analysis/predict/take.h"
#include "analysis/statistics/stats.h"

#define PREFETCH_FACTOR  4
#define WORTH            1.05 /* more workers are predicted only if the rate grows by this factor */
#define RESAMPLES        100
#define MOST_DRAWN       64 /* with more workers, chance is left out: replays take too long */
#define WANT_LESS        0.5
#define WANT_MORE        1.5
#define SEED             UINT64_C(0x13198a2e03707344)
#define RANGE_LONGEST    3000 /* with more batches, chance is left out: other errors are larger */
#define RANGE_LEAST      0.04
#define RANGE_PART       0.06 /* error of the model, as a share of ln(predicted / run's rate) */
#define RANGE_BESIDE     0.3 /* relative error of core_lost: other programs may take more or less */
#define HANDED_SOONER    0.5
/* Time of a load without workers / in a worker: the median and the least of 11 pairs of runs. */
#define OWN_LOAD         0.65
#define OWN_LOAD_LEAST   0.31
#define LOADING_LEAST    0.5  /* loads explain late answers if they take this share of the time */
#define OTHERS_SAID      0.1  /* other programs are said to matter if they use this many cores */
#define LEAST_LEFT       0.01 /* whatif_part() leaves at least this share of a load */

const char *whatif_name(const struct whatif *whatif, int id)
{
	static const char *const names[WHATIF_MAX] = {
#define X(id, name) name,
		WHATIFS(X)
#undef X
	};

	return id < WHATIF_MAX ? names[id] : whatif->wishes[id - WHATIF_MAX].text;
}

const char *const whatif_gap_words[WHATIF_GAP_MAX] = {
	[WHATIF_GAP_NO_VERDICT] = "there is no verdict",
	[WHATIF_GAP_DOUBT] = "the waits may not be the training's",
	[WHATIF_GAP_LOADS] = "too few loads or steps were observed",
	[WHATIF_GAP_WORKERS] = "the number of workers is not known",
	[WHATIF_GAP_OFF] = "the replay of the run as it was differs from the run",
};

static double correction(const struct trace *trace, const struct replay_setup *setup,
			 const struct whatif *whatif)
{
	return crowd_matters(trace, setup) ? whatif->correction : whatif->plain_correction;
}

static double own_per_s(const struct trace *trace, const struct replay_setup *setup, double want,
			const struct whatif *whatif)
{
	return crowd_replay(trace, setup, want).batches_per_s * correction(trace, setup, whatif);
}

/* Logarithms >= 0: by how much the real rate may be lower, or higher, than predicted. */
struct error {
	double low, high;
};

static void add_error(struct error *e, double low, double high)
{
	if (low > 0)
		e->low = hypot(e->low, low);
	if (high > 0)
		e->high = hypot(e->high, high);
}

static bool is_wanted(const struct whatif *whatif, int id)
{
	return !isnan(whatif->batches_per_s[id]) && whatif->setups[id].workers <= MOST_DRAWN;
}

/* Adds the error of chance, from replays of randomly drawn traces (trace_draw()). */
static int add_chance(const struct trace *trace, const struct whatif *whatif, int first, int end,
		      struct error *errors)
{
	const struct replay_setup *now = &whatif->setups[WHATIF_BASELINE];
	size_t block = 2 * (size_t)now->prefetch_factor * (size_t)(now->workers ? now->workers : 1);
	double(*rates)[RESAMPLES] = malloc((size_t)(end - first) * sizeof(*rates));
	uint64_t state = SEED;
	struct trace drawn;
	int r = trace_copy(trace, &drawn), id, i;

	if (block > trace->count)
		block = trace->count;
	if (!rates)
		r = -ENOMEM;
	drawn.factors = trace->factors;
	for (i = 0; r == 0 && i < RESAMPLES; i++) {
		trace_draw(trace, block, &state, &drawn);
		for (id = first; id < end; id++)
			if (is_wanted(whatif, id))
				rates[id - first][i] =
					replay_run(&drawn, &whatif->setups[id]).batches_per_s;
	}
	for (id = first; r == 0 && id < end; id++) {
		double *sorted = rates[id - first], middle;

		if (!is_wanted(whatif, id))
			continue;
		stats_sort(sorted, RESAMPLES);
		middle = sorted[RESAMPLES / 2];
		add_error(&errors[id], log(middle / sorted[RESAMPLES / 40]),
			  log(sorted[RESAMPLES - 1 - RESAMPLES / 40] / middle));
	}
	drawn.factors = NULL;
	trace_done(&drawn);
	free(rates);
	return r;
}

static void add_neighbours(const struct trace *trace, const struct whatif *whatif, int id,
			   struct error *error)
{
	const struct replay_setup *setup = &whatif->setups[id];
	double rate = whatif->batches_per_s[id];

	if (!(whatif->others_cores > 0) || !crowd_matters(trace, setup))
		return;
	add_error(error, log(rate / own_per_s(trace, setup, WANT_MORE, whatif)),
		  log(own_per_s(trace, setup, WANT_LESS, whatif) / rate));
}

/* If slow loads may be due to workers or to data, returns the rate for the one not assumed. */
static double rate_otherwise(const struct trace *trace, const struct whatif *whatif, int id)
{
	struct replay_setup setup = whatif->setups[id];

	if (!trace->is_either || setup.slow == REPLAY_SLOW_NONE || id == WHATIF_BASELINE)
		return whatif->batches_per_s[id];
	setup.slow = setup.slow == REPLAY_SLOW_INDEX ? REPLAY_SLOW_WORKER : REPLAY_SLOW_INDEX;
	return own_per_s(trace, &setup, 1, whatif);
}

static double rate_if_sampled(const struct trace *trace, const struct whatif *whatif, int id)
{
	struct replay_setup setup = whatif->setups[id];
	const struct replay_setup *now = &whatif->setups[WHATIF_BASELINE];
	bool is_seen = true;

	for (size_t e = 0; e < trace->epoch_count; e++)
		is_seen &= !isnan(trace->epochs[e].sample_ns);
	if (is_seen || (setup.restarts == now->restarts && setup.workers == now->workers))
		return whatif->batches_per_s[id];
	setup.unseen_sampling = whatif->unseen_sampling;
	return own_per_s(trace, &setup, 1, whatif);
}

static double rate_handed_sooner(const struct trace *trace, const struct whatif *whatif, int id)
{
	struct replay_setup setup = whatif->setups[id];

	if (id == WHATIF_BASELINE || !trace->workers)
		return whatif->batches_per_s[id];
	setup.own_load = OWN_LOAD_LEAST;
	setup.fetch_factor = 0;
	setup.handover_factor *= fmin(HANDED_SOONER, setup.load_factor);
	return fmin(own_per_s(trace, &setup, 1, whatif),
		    fmax(crowd_most(trace, &setup), whatif->own_per_s));
}

static bool has_more_workers(const struct whatif *whatif, int id)
{
	return whatif->setups[id].workers > whatif->setups[WHATIF_BASELINE].workers;
}

/* Returns true if more workers may have to share a limit, or get no shard of a dataset. */
static bool may_gain_nothing(const struct whatif *whatif, int id)
{
	return (whatif->outside_share >= WHATIF_OUTSIDE || whatif->is_iterable) &&
	       has_more_workers(whatif, id);
}

bool whatif_may_be_shared(const struct whatif *whatif, int id)
{
	return may_gain_nothing(whatif, id) &&
	       whatif->low_per_s[id] >= whatif->batches_per_s[WHATIF_BASELINE];
}

/* Returns true if workers answer late though they rarely load: what they do instead is unknown. */
static bool answers_late(const struct trace *trace, const struct whatif *whatif)
{
	double load_ns = 0;

	for (size_t i = 0; trace->fetch_waits && i < trace->count; i++)
		load_ns += (double)trace->load_ns[i];
	return trace->fetch_waits && load_ns / NS_PER_S * whatif->own_per_s <
					     LOADING_LEAST * (double)trace->count * trace->workers;
}

/*
 * Returns the rate for the case that a setting disappoints, for a reason that replays cannot show;
 * INFINITY: there is no such reason. More workers may share a server's limit, or get no shard of a
 * dataset. Sharing tensors by files may not help workers that answer late though they rarely load.
 * Without workers, loads may take as long as in a worker.
 */
static double rate_if_shared(const struct trace *trace, const struct whatif *whatif, int id)
{
	struct replay_setup setup = whatif->setups[id];

	if (id == WHATIF_SHARING && answers_late(trace, whatif))
		return whatif->own_per_s;
	setup.own_load = 1;
	if (trace->workers && !setup.workers)
		return own_per_s(trace, &setup, 1, whatif);
	if (!may_gain_nothing(whatif, id))
		return INFINITY;
	if (whatif->setups[WHATIF_BASELINE].workers)
		return whatif->own_per_s;
	setup.workers = 1;
	return fmax(own_per_s(trace, &setup, 1, whatif), whatif->own_per_s);
}

/*
 * Sets the range of each prediction. It combines three independent errors:
 * - chance: the 2.5 and 97.5 % quantiles of replays of drawn traces;
 * - other programs: they may want 0.5 to 1.5 times as many cores; core_lost may be off by
 *   RANGE_BESIDE;
 * - the model: RANGE_LEAST, the baseline's error, and RANGE_PART of the predicted change.
 * The range also includes the predictions of all rate_...() functions.
 * RANGE_LEAST and RANGE_PART were chosen on the 67 "seen" pairs of tests/bench/predict.py, run on 2
 * cores, before any of its "unseen" pairs ran.
 */
static int find_ranges(const struct trace *trace, struct whatif *whatif, int first, int end)
{
	struct error errors[WHATIF_ROOM] = {0};
	int r = 0, id;

	if (trace->count <= RANGE_LONGEST && first < end)
		r = add_chance(trace, whatif, first, end, errors);
	for (id = first; r == 0 && id < end; id++) {
		double rate = whatif->batches_per_s[id], other, lowest, highest, model;

		if (isnan(rate))
			continue;
		model = RANGE_LEAST + fabs(log1p(whatif->off)) +
			RANGE_PART * fabs(log(rate / whatif->own_per_s));
		add_error(&errors[id], model, model);
		add_neighbours(trace, whatif, id, &errors[id]);
		add_error(&errors[id], RANGE_BESIDE * whatif->core_lost,
			  RANGE_BESIDE * whatif->core_lost);
		other = rate_otherwise(trace, whatif, id);
		lowest = fmin(fmin(rate, other), rate_if_sampled(trace, whatif, id));
		highest = fmax(fmax(rate, other), rate_handed_sooner(trace, whatif, id));
		whatif->low_per_s[id] =
			fmin(lowest * exp(-errors[id].low), rate_if_shared(trace, whatif, id));
		whatif->high_per_s[id] = highest * exp(errors[id].high);
		if (has_more_workers(whatif, id) && whatif->shared_per_s > 0)
			whatif->high_per_s[id] = fmin(whatif->high_per_s[id],
						      rate * exp(errors[id].high));
	}
	return r;
}

static double replayed_step_ns(const struct replay_result *result)
{
	return (1 - result->stall_ratio) / result->batches_per_s * NS_PER_S;
}

/* Returns the rate to which other loaders of the same steps limit this one; 0: unknown. */
static double others_own_per_s(const struct whatif *w)
{
	const double own_ns = 1e9 / w->others_per_s - w->outside_ns;

	return own_ns > 0 ? 1e9 / own_ns : 0;
}

static void predict(const struct trace *trace, struct replay_setup setup, int id,
		    struct whatif *ret)
{
	bool is_shared = crowd_matters(trace, &setup);
	struct replay_result result = crowd_replay(trace, &setup, 1);
	double step_ns = is_shared ? ret->step_ns : ret->plain_step_ns;
	/* A prediction may exceed what the cores allow only if the run itself exceeded it. */
	double most = fmax(crowd_most(trace, &setup), ret->own_per_s);
	double per_s = result.batches_per_s * correction(trace, &setup, ret);
	const double others_per_s = others_own_per_s(ret);

	ret->setups[id] = setup;
	/* If workers share a limit, more workers bring no more batches. */
	if (ret->shared_per_s > 0 && has_more_workers(ret, id))
		most = fmin(most, ret->own_per_s);
	if (others_per_s > 0)
		most = fmin(most, fmax(others_per_s, ret->own_per_s));
	ret->batches_per_s[id] = fmin(per_s, most);
	ret->step_factor[id] = replayed_step_ns(&result) / step_ns;
	ret->shares_cores |= is_shared && ret->others_cores >= OTHERS_SAID;
}

/* Returns the rate of the whole training, with time between epochs and in other loaders. */
static double whole_per_s(const struct whatif *w, double own_per_s)
{
	return 1 / (1 / own_per_s + w->outside_ns / 1e9);
}

/* Returns the predicted stall ratio. Waits for other loaders stay as they were in the run. */
static double stall_at(const struct whatif *w, int id)
{
	const double step = fmax(w->least_step, w->step_factor[id]);
	const double ratio = fmax(0, 1 - (1 - w->ratio) * (w->gain[id] + 1) * step);

	if (id == WHATIF_BASELINE)
		return w->ratio;
	/* If the rate does not fall, the stall ratio is said not to rise, even if steps shorten. */
	return w->gain[id] < 0 ? ratio : fmin(ratio, w->ratio);
}

static void widen(struct whatif *w, int first, int end)
{
	for (int id = first; id < end; id++) {
		if (isnan(w->batches_per_s[id]))
			continue;
		w->batches_per_s[id] = whole_per_s(w, w->batches_per_s[id]);
		w->low_per_s[id] = whole_per_s(w, w->low_per_s[id]);
		w->high_per_s[id] = whole_per_s(w, w->high_per_s[id]);
		if (w->batches_per_s[id] > w->ceiling_per_s)
			w->batches_per_s[id] = w->ceiling_per_s;
		if (w->low_per_s[id] > w->batches_per_s[id])
			w->low_per_s[id] = w->batches_per_s[id];
		w->gain[id] = w->batches_per_s[id] / whole_per_s(w, w->own_per_s) - 1;
		w->stall_ratio[id] = stall_at(w, id);
	}
}

/* Predicts ideal input, without any wait: at least as fast as all other predictions. */
static void add_ceiling(const struct finding *finding, struct whatif *w)
{
	double most = finding->gain_max, low_per_s = w->low_per_s[WHATIF_BASELINE] * most;

	for (int id = 0; id < WHATIF_ROOM; id++) {
		if (id == WHATIF_SYNTHETIC)
			continue;
		most = fmax(most, 1 + w->gain[id]);
		low_per_s = fmax(low_per_s, w->low_per_s[id]);
	}
	w->gain[WHATIF_SYNTHETIC] = most - 1;
	w->batches_per_s[WHATIF_SYNTHETIC] = w->batches_per_s[WHATIF_BASELINE] * most;
	w->low_per_s[WHATIF_SYNTHETIC] = low_per_s;
	w->high_per_s[WHATIF_SYNTHETIC] = w->high_per_s[WHATIF_BASELINE] * finding->gain_alone;
	w->stall_ratio[WHATIF_SYNTHETIC] = 0;
}

/* Predicts this number of workers. If the rate is below least_per_s, forgets it and returns -1. */
static int32_t add_number(const struct trace *trace, struct replay_setup now, int32_t workers,
			  int id, double least_per_s, struct whatif *ret)
{
	now.workers = workers;
	predict(trace, now, id, ret);
	if (ret->batches_per_s[id] >= least_per_s)
		return workers;
	ret->batches_per_s[id] = NAN;
	return -1;
}

static void add_workers(const struct trace *trace, struct replay_setup now, struct whatif *ret)
{
	struct needed needed;

	if (!now.workers)
		now.prefetch_factor = SERIES_PREFETCH;
	needed = needed_find(trace, &now, ret->cores);
	ret->core_limited = needed.core_limited;
	if (needed.enough <= now.workers || needed.enough <= needed.more)
		ret->needed_workers = needed.enough;
	if (!now.workers) {
		now.workers = ret->use_workers = needed.more;
		predict(trace, now, WHATIF_USE_WORKERS, ret);
		return;
	}
	if (needed.fewer > 0)
		ret->fewer_workers = add_number(trace, now, needed.fewer, WHATIF_FEWER_WORKERS,
						ret->own_per_s, ret);
	if (needed.more > 0)
		ret->more_workers = add_number(trace, now, needed.more, WHATIF_MORE_WORKERS,
					       WORTH * ret->own_per_s, ret);
	add_number(trace, now, 0, WHATIF_NO_WORKERS, ret->own_per_s, ret);
	now.workers = 2 * ret->setups[WHATIF_BASELINE].workers;
	predict(trace, now, WHATIF_WORKERS_X2, ret);
}

/* Evaluates to a copy of the setup `now` in which `field` is `value`. */
#define BUT(field, value)                                                                          \
	({                                                                                         \
		struct replay_setup other = now;                                                   \
		other.field = (value);                                                             \
		other;                                                                             \
	})

static void predict_all(const struct trace *trace, struct replay_setup now, int64_t burst,
			struct whatif *ret)
{
	int32_t prefetch = PREFETCH_FACTOR * now.prefetch_factor;

	predict(trace, BUT(load_factor, 0.5), WHATIF_LOAD_HALF, ret);
	if (trace_has_sampling(trace))
		predict(trace, BUT(sampling_factor, 0), WHATIF_SAMPLING, ret);
	if (now.as_dealt)
		predict(trace, BUT(as_dealt, false), WHATIF_EVEN_SHARDS, ret);
	/* If some workers got less data, the effect of more workers is unknown. */
	if (!ret->has_fixed_workers)
		add_workers(trace, now, ret);
	if (now.workers == 0)
		return;
	/* A queue must hold the batches that are taken at once, or some are not ready in time. */
	if (burst > (int64_t)prefetch * now.workers && burst <= (int64_t)REPLAY_SLOTS * now.workers)
		prefetch = (int32_t)((burst + now.workers - 1) / now.workers);
	predict(trace, BUT(prefetch_factor, prefetch), WHATIF_PREFETCH_X4, ret);
	predict(trace, BUT(handover_factor, 0), WHATIF_DELIVERY, ret);
	if (trace->fetch_ns > 0)
		predict(trace, BUT(fetch_factor, trace->filed_share), WHATIF_SHARING, ret);
	if (now.in_order && !now.is_foreign && !now.as_dealt)
		predict(trace, BUT(in_order, false), WHATIF_IN_ORDER_FALSE, ret);
	if (now.restarts && trace->epoch_count > 1 && !now.is_foreign)
		predict(trace, BUT(restarts, false), WHATIF_PERSISTENT, ret);
	if (now.slow == REPLAY_SLOW_WORKER && trace_has_slow_worker(trace))
		predict(trace, BUT(slow, REPLAY_SLOW_NONE), WHATIF_FIX_SLOW_WORKER, ret);
}

static struct replay_setup setup_of(const struct batch_series *series, const struct trace *trace,
				    bool is_uneven)
{
	int32_t prefetch = series_ahead(series);

	return (struct replay_setup){
		.workers = trace->workers,
		/* A larger factor could overflow, and is not replayed. */
		.prefetch_factor = prefetch <= REPLAY_SLOTS ? prefetch : REPLAY_SLOTS + 1,
		.in_order = series->in_order != 0,
		.as_dealt = is_uneven,
		.is_foreign = series->is_foreign == 1,
		.is_pooled = series->is_pooled == 1,
		.restarts = series->persistent != 1,
		.slow = trace->by_index ? REPLAY_SLOW_INDEX : REPLAY_SLOW_WORKER,
		.load_factor = 1,
		.handover_factor = 1,
		.fetch_factor = 1,
		.sampling_factor = 1,
		.own_load = OWN_LOAD,
	};
}

static enum whatif_gap find_gap(const struct batch_series *series, const struct finding *finding,
				const struct trace *trace)
{
	if (finding->gap != STALL_GAP_NONE)
		return WHATIF_GAP_NO_VERDICT;
	if (finding->is_doubtful)
		return WHATIF_GAP_DOUBT;
	if (series->workers < 0 || series->workers > TRACE_WORKERS)
		return WHATIF_GAP_WORKERS;
	return trace->count < STALL_FEWEST ? WHATIF_GAP_LOADS : WHATIF_GAP_NONE;
}

static void replay_baseline(const struct trace *trace, struct replay_setup now,
			    double account_per_s, struct whatif *ret)
{
	struct replay_result result = replay_run(trace, &now), shared;
	double seen_per_s = (double)trace->count / trace->time_ns * 1e9;

	ret->setups[WHATIF_BASELINE] = now;
	ret->off = result.batches_per_s / seen_per_s - 1;
	if (!(fabs(ret->off) <= WHATIF_OFF)) {
		ret->gap = WHATIF_GAP_OFF;
		return;
	}
	/* The trace counts a last step of unknown length, so its rate may be the lower one. */
	ret->own_per_s = fmax(trace->per_s, account_per_s);
	ret->plain_correction = ret->own_per_s / result.batches_per_s;
	ret->batches_per_s[WHATIF_BASELINE] = ret->own_per_s;
	ret->plain_step_ns = replayed_step_ns(&result);
	shared = crowd_replay(trace, &now, 1);
	ret->correction = ret->own_per_s / shared.batches_per_s;
	ret->step_ns = replayed_step_ns(&shared);
}

/* Returns which share of each core other programs take from the run's threads. */
static double find_core_lost(const struct share *share, const struct trace *trace)
{
	struct share alone = *share;
	double threads = 1 + trace->load_cpu / trace->load_got * trace->workers;

	alone.count = 0;
	return fmax(0, 1 - share_of_thread(share, threads, 1) /
				   share_of_thread(&alone, threads, 1));
}

/* Returns in which share of their time loads wait for anything but cores and their own threads. */
static double find_outside(const struct batch_series *s, const struct finding *f,
			   const struct whatif_known *known)
{
	const struct load_facts *facts = known ? known->facts : NULL;
	const double got = s->workers ? s->worker_share : s->main_share;
	double cpu = NAN, ready = NAN, threads = 0, waited = NAN;

	if (known && known->is_from_device)
		return 1;
	if (f->load_mean_ns > 0)
		cpu = series_load_cpu_ns(s) / f->load_mean_ns;
	if (got > 0)
		ready = cpu * (1 / fmin(got, 1) - 1);
	else if (series_free_cores(s) >= 1)
		ready = 0;
	if (facts && facts->load_ns > 0) {
		if (!isnan(facts->no_core_ns))
			ready = facts->no_core_ns / facts->load_ns;
		for (int kind = 0; kind < LOAD_WAIT_MAX; kind++) {
			double share = facts->wait_ns[kind] / facts->load_ns;

			if (kind == LOAD_WAIT_THREAD && !known->is_threads)
				threads = fmax(0, share);
			else if (!isnan(share))
				waited = fmax(0, waited) + share;
		}
	}
	/* A load waits for threads and processes of its own only as far as these run. */
	if (s->worker_cores >= 0)
		threads = fmax(0, fmin(1, s->worker_cores) - cpu - ready);
	cpu = 1 - cpu - ready - threads;
	return isnan(cpu) && isnan(waited) ? NAN : fmin(1, fmax(waited, cpu));
}

static void forget(struct whatif *whatif, int id)
{
	whatif->batches_per_s[id] = whatif->gain[id] = whatif->stall_ratio[id] = NAN;
	whatif->low_per_s[id] = whatif->high_per_s[id] = NAN;
}

int whatif_predict(const struct batch_series *series, const struct finding *finding,
		   const struct trace *trace, const struct whatif_known *known,
		   struct whatif *ret)
{
	const struct account *account = &finding->account;
	double count = (double)series->count;
	double account_per_s = count / (account->time_ns + account->unseen_ns) * 1e9;
	const bool is_uneven = known && known->is_uneven;
	int id, r;

	*ret = (struct whatif){
		.needed_workers = -1,
		.more_workers = -1,
		.fewer_workers = -1,
		.outside_share = find_outside(series, finding, known),
		.shared_per_s = known ? known->shared_per_s : NAN,
		.others_per_s = series->others_per_s,
		.has_fixed_workers = is_uneven || series_has_idle_workers(series),
		.unseen_sampling = known ? known->most_sampling : 1,
		.is_iterable = series->iterable == 1,
		.cores = series->cores,
		.off = NAN,
	};
	for (id = 0; id < WHATIF_ROOM; id++)
		forget(ret, id);
	ret->gap = find_gap(series, finding, trace);
	if (ret->gap == WHATIF_GAP_NONE)
		replay_baseline(trace, setup_of(series, trace, is_uneven), account_per_s, ret);
	if (ret->gap != WHATIF_GAP_NONE)
		return 0;
	ret->others_cores = share_wanted(&trace->share);
	ret->core_lost = find_core_lost(&series->share, trace);
	ret->outside_ns = 1e9 / account_per_s - 1e9 / ret->own_per_s;
	ret->ratio = finding->stall_ratio;
	ret->least_step = finding->gain_max / finding->gain_alone;
	ret->ceiling_per_s = whole_per_s(ret, ret->own_per_s) * finding->gain_alone;
	predict_all(trace, ret->setups[WHATIF_BASELINE], known ? known->burst : 0, ret);
	/* Workers that load faster than steps take batches are not short of cores. */
	ret->core_limited &= !(finding->rho < 1);
	r = find_ranges(trace, ret, 0, WHATIF_MAX);
	widen(ret, 0, WHATIF_MAX);
	add_ceiling(finding, ret);
	return r;
}

int whatif_ask(const struct batch_series *series, const struct finding *finding,
	       const struct whatif_wish *wishes, size_t count, struct whatif *whatif)
{
	struct trace trace;
	int r;

	if (!count)
		return 0;
	/* If nothing can be predicted, the wishes are listed without predictions. */
	if (whatif->gap != WHATIF_GAP_NONE) {
		memcpy(whatif->wishes, wishes, count * sizeof(*wishes));
		whatif->wish_count = count;
		return 0;
	}
	r = take_trace(series, finding, &trace);
	for (size_t i = 0; r == 0 && i < count; i++) {
		const struct whatif_wish *wish = &whatif->wishes[i];
		struct replay_setup setup = whatif->setups[WHATIF_BASELINE];

		whatif->wishes[i] = wishes[i];
		whatif->wish_count = i + 1;
		if (wish->workers >= 0 && wish->workers != series->workers) {
			setup.workers = wish->workers;
			if (whatif->has_fixed_workers)
				continue;
		}
		if (wish->prefetch_factor >= 0)
			setup.prefetch_factor = wish->prefetch_factor;
		if (wish->in_order >= 0)
			setup.in_order = wish->in_order;
		if (!isnan(wish->load_factor))
			setup.load_factor = wish->load_factor;
		if (wish->persistent == 1)
			setup.restarts = false;
		predict(&trace, setup, WHATIF_MAX + (int)i, whatif);
	}
	if (r == 0)
		r = find_ranges(&trace, whatif, WHATIF_MAX, WHATIF_MAX + (int)whatif->wish_count);
	widen(whatif, WHATIF_MAX, WHATIF_MAX + (int)whatif->wish_count);
	add_ceiling(finding, whatif);
	trace_done(&trace);
	return r;
}

struct whatif_point whatif_at(const struct whatif *whatif, const struct trace *trace,
			      const struct replay_setup *setup)
{
	struct whatif asked = *whatif;

	forget(&asked, WHATIF_MAX);
	predict(trace, *setup, WHATIF_MAX, &asked);
	widen(&asked, WHATIF_MAX, WHATIF_MAX + 1);
	return (struct whatif_point){asked.batches_per_s[WHATIF_MAX],
				     asked.stall_ratio[WHATIF_MAX]};
}

struct whatif_gain whatif_gain_of(const struct whatif *whatif, int id)
{
	double as_it_was = whatif->batches_per_s[WHATIF_BASELINE];

	return (struct whatif_gain){
		.gain = whatif->gain[id],
		.low = whatif->low_per_s[id] / as_it_was - 1,
		.high = whatif->high_per_s[id] / as_it_was - 1,
	};
}

int whatif_part(const struct batch_series *series, const struct finding *finding,
		const struct whatif *whatif, double share, struct whatif_gain *ret)
{
	const struct whatif_wish wish = {"", -1, -1, -1, fmax(1 - share, LEAST_LEFT), -1};
	struct whatif asked = *whatif;
	int r;

	asked.wish_count = 0;
	forget(&asked, WHATIF_MAX);
	r = whatif_ask(series, finding, &wish, 1, &asked);
	*ret = whatif_gain_of(&asked, WHATIF_MAX);
	return r;
}

int whatif_uncrowd(const struct batch_series *series, const struct finding *finding,
		   double waiting_share, struct whatif *whatif)
{
	struct replay_setup setup = whatif->setups[WHATIF_BASELINE];
	struct trace trace;
	int r;

	if (whatif->gap != WHATIF_GAP_NONE || whatif->has_fixed_workers)
		return 0;
	setup.workers = whatif->fewer_workers = (int32_t)ceil(series->cores);
	r = take_trace(series, finding, &trace);
	if (r == 0) {
		/* Loads need as much CPU time as before, but get a core at once. */
		trace.load_got = fmax(1 - waiting_share, trace.load_cpu);
		predict(&trace, setup, WHATIF_FEWER_WORKERS, whatif);
		r = find_ranges(&trace, whatif, WHATIF_FEWER_WORKERS, WHATIF_FEWER_WORKERS + 1);
	}
	widen(whatif, WHATIF_FEWER_WORKERS, WHATIF_FEWER_WORKERS + 1);
	trace_done(&trace);
	if (isnan(whatif->gain[WHATIF_FEWER_WORKERS]))
		whatif->fewer_workers = -1;
	return r;
}
