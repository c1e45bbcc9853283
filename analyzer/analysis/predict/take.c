/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/predict/take.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/statistics/array.h"
#include "analysis/statistics/stats.h"

#define SAMPLE_PARTS     16
#define SAMPLE_PART      ((size_t)2048)
#define RECEIVE_LEAST_NS 5e5
#define FETCH_LONG_NS    1e6  /* fetching a descriptor (usually 0.1 ms) is long from this time on */
#define FILE_NS          0.11e6 /* time to share a tensor by files (PyTorch 2.15, 225 tensors) */
/* long fetches wait for the worker if the CPU works in less than this share of their time */
#define FETCH_IDLE       0.25
/* the host runs ahead of the GPU if waits with a busy GPU take more than this share of the time */
#define RUNS_AHEAD       0.01
/* a thread that uses less than this share of a core is taken to get one whenever it needs one */
#define LITTLE_WORK      0.15
#define THREADS_MORE     0.25 /* a worker's other threads count if they use more cores than this */
#define HARDLY_WORK      0.2 /* loads that are runnable for less of their time need no core */
#define KNOWN_LEAST      0.8 /* no trace is made if a smaller share of the loads is known */
#define FEWEST           5
/* this quantile of late batches' hand-overs is taken as a hand-over that nothing delayed */
#define SOON             0.25
#define MOST_SET_UP      ((size_t)1 << 25)
#define USUAL_LAG_NS     2e5
/* lags are not measured if waiting for other loaders takes this share of the time or more */
#define ELSEWHERE_MOST   0.01

struct lag_input {
	float *wait_ns;
	uint8_t *is_ready;
	double receive_ns;
};

struct walk {
	double *free_ns;  /* when each worker had finished its loads; NAN: unknown */
	double *given_ns; /* when loads were assigned: a ring of `ahead` entries for each worker */
	size_t *turn;     /* for each worker, the index of its oldest entry in its ring */
	size_t workers, ahead; /* ahead: number of batches that a worker prefetches */
	bool is_pooled; /* given_ns is one ring for all workers, as any of them takes a load */
	double now_ns;
};

static int walk_begin(struct walk *w, int32_t workers, int32_t prefetch_factor, size_t epochs)
{
	size_t ahead = (size_t)prefetch_factor;

	*w = (struct walk){.workers = workers > 0 ? (size_t)workers : 1, .ahead = ahead};
	/* Each epoch sets all entries of given_ns, so their number is limited. */
	if (ahead > MOST_SET_UP / w->workers / (epochs + 1))
		w->ahead = 1;
	w->free_ns = calloc(w->workers, sizeof(*w->free_ns));
	w->given_ns = calloc(w->workers * w->ahead, sizeof(*w->given_ns));
	w->turn = calloc(w->workers, sizeof(*w->turn));
	return w->free_ns && w->given_ns && w->turn ? 0 : -ENOMEM;
}

static void start_epoch(struct walk *w, struct trace *t, struct trace_epoch *e, double wait_ns)
{
	double rest_ns = wait_ns - (double)t->load_ns[e->begin] - (double)t->handover_ns[e->begin];

	w->now_ns += e->setup_ns;
	e->start_ns = rest_ns > 0 ? rest_ns : 0;
	for (size_t i = 0; i < w->workers; i++) {
		w->free_ns[i] = w->now_ns + e->start_ns;
		w->turn[i] = 0;
	}
	for (size_t i = 0; i < w->workers * w->ahead; i++)
		w->given_ns[i] = w->now_ns;
}

static void pass_batch(struct walk *w, struct trace *t, size_t i, size_t worker,
		       const struct lag_input *input)
{
	const size_t ring = w->is_pooled ? 0 : worker;
	const size_t length = w->is_pooled ? w->workers * w->ahead : w->ahead;
	double *given = &w->given_ns[ring * w->ahead + w->turn[ring]];
	double could_ns = w->free_ns[worker] < *given ? *given : w->free_ns[worker];
	double out_ns = w->now_ns + (double)input->wait_ns[i], end_ns = NAN;

	t->lag_ns[i] = NAN;
	if (!input->is_ready[i] && t->handover_ns[i] >= 0 && t->workers > 0) {
		end_ns = out_ns - (double)t->handover_ns[i];
		t->lag_ns[i] = (float)(end_ns - (double)t->load_ns[i] - could_ns);
		/* The times are from two processes, so a lag may seem negative. */
		if (t->lag_ns[i] < 0)
			t->lag_ns[i] = 0;
	}
	/* NAN for a ready batch: when its load ended is unknown. */
	w->free_ns[worker] = end_ns;
	*given = out_ns;
	w->turn[ring] = w->turn[ring] + 1 < length ? w->turn[ring] + 1 : 0;
	w->now_ns = out_ns + (double)t->compute_ns[i];
}

/* Returns a quantile of the values whose entry in `kinds` is `kind`; of all if `kinds` is NULL. */
static double quantile(const float *values, const uint8_t *kinds, uint8_t kind, size_t count,
		       double share, size_t *ret_count)
{
	const struct stats_column column = {values, kinds, count, UINT8_MAX, kind};
	struct stats_order order;

	stats_order_init(&order, &column);
	*ret_count = order.count;
	return stats_order_quantile(&order, share);
}

/* Finds latencies: by how much a late batch's hand-over takes longer than a usual hand-over. */
static void find_latency(struct trace *t, const struct lag_input *input)
{
	size_t late_count, ready_count, i;
	double late = quantile(t->handover_ns, input->is_ready, false, t->count, SOON, &late_count);
	double own = quantile(t->handover_ns, input->is_ready, true, t->count, 0.5, &ready_count);

	if (late_count >= FEWEST && ready_count >= FEWEST)
		own = fmin(own, late);
	else if (late_count >= FEWEST)
		own = fmin(fmax(late / 2, input->receive_ns), late);
	for (i = 0; i < t->count; i++) {
		t->latency_ns[i] = NAN;
		if (!input->is_ready[i] && t->handover_ns[i] >= 0 && t->workers > 0)
			t->latency_ns[i] = fmaxf(0, t->handover_ns[i] - (float)own);
	}
	late = quantile(t->latency_ns, NULL, 0, t->count, 0.5, &late_count);
	if (late_count < FEWEST)
		late = 0;
	for (i = 0; i < t->count; i++) {
		if (isnan(t->handover_ns[i]))
			t->handover_ns[i] = isnan(own) ? 0 : (float)own;
		else if (t->latency_ns[i] > 0)
			t->handover_ns[i] = (float)own;
		if (isnan(t->latency_ns[i]))
			t->latency_ns[i] = (float)late;
	}
}

static void find_firsts(const struct trace *t, uint8_t *is_first)
{
	for (size_t i = 0; i < t->count; i++)
		is_first[i] = 0;
	for (size_t e = 0; e < t->epoch_count; e++)
		for (size_t i = t->epochs[e].begin;
		     i < t->count && i < t->epochs[e].begin + (size_t)t->workers; i++)
			is_first[i] = 1;
}

/*
 * Returns the length that an epoch's first loads would have if workers stayed, as a share of their
 * length now that new workers first import modules and open files. Leaves out the run's first
 * epoch. Returns 1 for iterable datasets, whose workers open files anew in any case.
 */
static double find_kept_factor(const struct trace *t, const uint8_t *is_first, bool is_iterable)
{
	const size_t begin = t->epoch_count > 1 ? t->epochs[1].begin : t->count;
	const float *loads = t->load_ns + begin;
	const size_t count = t->count - begin;
	size_t first_count, other_count;
	double first = quantile(loads, is_first + begin, 1, count, 0.25, &first_count);
	double other = quantile(loads, is_first + begin, 0, count, 0.75, &other_count);

	if (is_iterable || first_count < FEWEST || other_count < FEWEST || !(first > other))
		return 1;
	first = quantile(loads, is_first + begin, 1, count, 0.5, &first_count);
	other = quantile(loads, is_first + begin, 0, count, 0.5, &other_count);
	return other / first;
}

/* Finds lags and hand-overs. Before find_latency(), each handover_ns includes its latency. */
static int find_lags(struct trace *t, const struct batch_series *s, const struct lag_input *input)
{
	uint8_t *is_first = malloc(t->count + 1);
	/* Waits for other loaders lie at unknown places in steps. Long ones make lags wrong. */
	const bool is_blurred = s->elsewhere_ns > ELSEWHERE_MOST * t->time_ns;
	size_t e = 0, ordinal = 0, count, i;
	struct walk w;
	int r = walk_begin(&w, t->workers, series_ahead(s), t->epoch_count);

	if (r < 0 || !is_first) {
		r = -ENOMEM;
		goto out;
	}
	w.is_pooled = s->is_pooled == 1;
	for (i = 0; i < t->count; i++, ordinal++) {
		int16_t worker = t->worker[i];

		if (e < t->epoch_count && t->epochs[e].begin == i) {
			w.now_ns += e ? t->epochs[e - 1].stop_ns : 0;
			start_epoch(&w, t, &t->epochs[e++], (double)input->wait_ns[i]);
			ordinal = 0;
		}
		pass_batch(&w, t, i,
			   worker >= 0 && (size_t)worker < w.workers ? (size_t)worker
								     : ordinal % w.workers,
			   input);
	}
	find_firsts(t, is_first);
	t->kept_factor = find_kept_factor(t, is_first, s->iterable == 1);
	t->usual_lag_ns = quantile(t->lag_ns, is_first, 0, t->count, 0.5, &count);
	if (count < FEWEST || t->workers == 0 || is_blurred)
		t->usual_lag_ns = USUAL_LAG_NS;
	for (i = 0; i < t->count; i++)
		if (isnan(t->lag_ns[i]) || is_blurred)
			t->lag_ns[i] = (float)t->usual_lag_ns;
	find_latency(t, input);
out:
	free(is_first);
	free(w.free_ns);
	free(w.given_ns);
	free(w.turn);
	return r;
}

struct steps {
	const float *waits; /* waits by the clock that the verdict uses, of the host or the GPU */
	const struct batch_series *series;
	const struct finding *finding;
	double mean_ns; /* mean step, for batches whose compute is unknown */
	bool is_even;
	double busy_mean_ns;
};

static double busy_of(const struct batch_series *s, const struct finding *f, size_t i)
{
	if (!series_has(s->gpu_busy_ns, i) || !series_has(s->compute_ns, i))
		return NAN;
	return fmin((double)s->gpu_busy_ns[i], stall_demand_ns(s, f, i));
}

static double busy_mean_ns(const struct batch_series *s, const struct finding *f)
{
	double sum_ns = 0, busy_ns;
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++) {
		busy_ns = busy_of(s, f, i);
		if (isnan(busy_ns))
			continue;
		sum_ns += busy_ns;
		count++;
	}
	return sum_ns / (double)count;
}

static double step_of(const struct steps *steps, size_t i)
{
	const struct batch_series *s = steps->series;
	double step_ns = stall_demand_ns(s, steps->finding, i) + series_elsewhere_mean_ns(s);

	if (steps->is_even)
		step_ns += steps->busy_mean_ns - busy_of(s, steps->finding, i);
	return s->compute_ns[i] >= 0 && !isnan(step_ns) ? step_ns : steps->mean_ns;
}

static struct steps find_steps(const struct batch_series *s, const struct finding *f)
{
	struct steps steps = {
		.waits = stall_waits(s, f),
		.series = s,
		.finding = f,
		/* If the host runs ahead of the GPU, it takes many batches at once, then waits. The
		 * GPU works evenly, so each batch then gets the GPU's mean busy time. */
		.is_even = f->by_gpu && f->wait_masked_ns > RUNS_AHEAD * f->account.time_ns,
		.mean_ns = f->taken_mean_ns,
	};

	if (steps.is_even)
		steps.busy_mean_ns = busy_mean_ns(s, f);
	return steps;
}

static double handover_of(const struct steps *steps, size_t i)
{
	const struct batch_series *s = steps->series;
	double host_ns = series_time(s->wait_ns, i), wait_ns = series_time(steps->waits, i);

	if (s->workers == 0)
		return series_has(s->load_ns, i) ? fmax(0, wait_ns - (double)s->load_ns[i]) : 0;
	if (series_has(s->handover_ns, i))
		return host_ns > 0 ? (double)s->handover_ns[i] * (wait_ns / host_ns) : 0;
	return s->state[i] & SERIES_READY ? wait_ns : NAN;
}

static const struct series_epoch *find_epoch(const struct batch_series *s, int32_t epoch)
{
	size_t at = ARRAY_PLACE(s->epoch_count, i, s->epochs[i].epoch < epoch);

	return at < s->epoch_count && s->epochs[at].epoch == epoch ? &s->epochs[at] : NULL;
}

static int add_epoch(struct trace *t, const struct batch_series *s, int32_t epoch)
{
	const struct series_epoch *found = find_epoch(s, epoch);

	if (!ARRAY_GROW(t->epochs, t->epoch_count))
		return -ENOMEM;
	t->epochs[t->epoch_count++] = (struct trace_epoch){
		.begin = t->count,
		.boot_ns = found ? (double)found->boot_ns : NAN,
		.setup_ns = found && found->setup_ns >= 0 ? (double)found->setup_ns : 0,
		.sample_ns = found && found->sample_ns >= 0 && found->setup_ns >= 0
				     ? fmin((double)found->sample_ns, (double)found->setup_ns)
				     : NAN,
		.stop_ns = found && found->stop_ns >= 0 ? (double)found->stop_ns : 0,
	};
	return 0;
}

/* Numbers each epoch's workers in the order of their first batches, as some may get no data. */
struct turns {
	int16_t number[TRACE_WORKERS]; /* -1: no number yet */
	int16_t count;
};

static void start_turns(struct turns *turns, const struct batch_series *s)
{
	for (int32_t i = 0; series_has_idle_workers(s) && i < s->workers; i++)
		turns->number[i] = -1;
	turns->count = 0;
}

static int16_t turn_of(struct turns *turns, const struct batch_series *s, size_t i)
{
	int16_t worker = s->worker[i];

	if (!series_has_idle_workers(s) || worker < 0 || worker >= s->workers)
		return worker;
	if (turns->number[worker] < 0 && turns->count < s->loading)
		turns->number[worker] = turns->count++;
	return turns->number[worker];
}

/*
 * Without workers, the sampler may choose a whole epoch's samples during the epoch's first wait.
 * Moves that time from the wait to the epoch's start, and returns it.
 */
static double move_sampling(struct trace *t, const struct batch_series *s, size_t i,
			    double handover_ns)
{
	struct trace_epoch *e = &t->epochs[t->epoch_count - 1];
	double ns = s->workers == 0 ? fmin(series_time(s->sample_ns, i), handover_ns) : 0;

	if (!(ns > 0))
		return 0;
	e->setup_ns += ns;
	e->sample_ns = ns + (isnan(e->sample_ns) ? 0 : e->sample_ns);
	return ns;
}

static void add_batch(struct trace *t, const struct steps *steps, const struct series_place *at,
		      int16_t worker, double load_ns, struct lag_input *lags)
{
	const struct batch_series *s = steps->series;
	const size_t i = at->i;
	double wait_ns = series_time(steps->waits, i), step_ns = step_of(steps, i);
	double handover_ns = handover_of(steps, i);
	double moved_ns = at->is_new ? move_sampling(t, s, i, handover_ns) : 0;

	wait_ns -= moved_ns;
	handover_ns -= moved_ns;
	t->load_ns[t->count] = (float)load_ns;
	t->compute_ns[t->count] = (float)step_ns;
	t->handover_ns[t->count] = (float)handover_ns;
	t->worker[t->count] = worker;
	lags->wait_ns[t->count] = (float)wait_ns;
	lags->is_ready[t->count] = (s->state[i] & SERIES_READY) != 0;
	/* The run's first wait is start-up, which does not count. */
	t->time_ns += step_ns + (t->count ? wait_ns : 0);
	t->count++;
}

static double whole_time_ns(const struct steps *steps)
{
	const struct batch_series *s = steps->series;
	double ns = 0;

	for (size_t i = 0; i < s->count; i++)
		ns += step_of(steps, i) + (i ? series_time(steps->waits, i) : 0);
	for (size_t i = 0; i < s->epoch_count; i++) {
		if (i && s->epochs[i].setup_ns >= 0)
			ns += (double)s->epochs[i].setup_ns;
		if (i + 1 < s->epoch_count && s->epochs[i].stop_ns >= 0)
			ns += (double)s->epochs[i].stop_ns;
	}
	return ns;
}

static int take_batches(struct trace *t, const struct steps *steps, const float *loads,
			double load_mean_ns, struct lag_input *lags)
{
	const struct batch_series *s = steps->series;
	struct series_place at = SERIES_BEGIN;
	struct turns turns;
	bool wanted = false;
	int r;

	start_turns(&turns, s);
	while (series_next(s, &at)) {
		if (at.is_new)
			start_turns(&turns, s);
		if (at.i % SAMPLE_PART == 0)
			wanted = stats_is_sampled(at.i / SAMPLE_PART, s->count / SAMPLE_PART,
						  SAMPLE_PARTS);
		if (!wanted)
			continue;
		if (at.is_new || !t->count) {
			r = add_epoch(t, s, at.epoch);
			if (r < 0)
				return r;
			/* If this part of the run begins within an epoch, it makes no iterator. */
			if (!at.is_new)
				t->epochs[0].setup_ns = t->epochs[0].sample_ns = 0;
		}
		add_batch(t, steps, &at, turn_of(&turns, s, at.i),
			  loads[at.i] >= 0 ? (double)loads[at.i] : load_mean_ns, lags);
	}
	return 0;
}

/* Returns a batch's mean sampling time, without what move_sampling() moves; 0: unknown. */
static double mean_sample_ns(const struct batch_series *s)
{
	struct series_place at = SERIES_BEGIN;
	double sum_ns = 0;
	size_t count = 0;

	while (s->sample_ns && series_next(s, &at)) {
		if (!series_has(s->sample_ns, at.i) || (at.is_new && s->workers == 0))
			continue;
		sum_ns += (double)s->sample_ns[at.i];
		count++;
	}
	return count ? sum_ns / (double)count : 0;
}

/* Finds the time to receive a batch, and whether fetching waits for the worker (FETCH_IDLE). */
static void find_receiving(struct trace *t, const struct batch_series *s)
{
	double receive_ns = s->receive_count ? s->receive_ns / (double)s->receive_count : 0;
	const struct series_fetches *fetches = &s->fetches;

	if (s->workers > 0 && receive_ns > RECEIVE_LEAST_NS)
		t->receive_ns = receive_ns;
	t->sample_ns = mean_sample_ns(s);
	if (s->workers < 1 || !(fetches->batches > 0))
		return;
	t->fetch_ns = fetches->ns / fetches->batches;
	t->filed_share = fmin(1, FILE_NS * fetches->count / fetches->ns);
	t->fetch_waits = fetches->ns >= FETCH_LONG_NS * fetches->count &&
			 fetches->cpu_ns < FETCH_IDLE * fetches->ns;
}

static void find_cpu(struct trace *t, const struct batch_series *s, double load_mean_ns)
{
	double cpu_ns = fmax(0, series_load_cpu_ns(s));
	double main_ns = s->main_cores > 0 ? s->main_cores * t->time_ns / (double)t->count : 0;
	double step_ns = 0, works;

	/* If the number of cores is unknown, no thread is taken to wait for one. */
	t->load_got = t->step_got = 1;
	if (t->share.all > 0 && s->main_share > 0)
		t->step_got = s->main_share;
	if (t->share.all > 0 && s->worker_share > 0)
		t->load_got = s->worker_share;
	if (s->workers == 0)
		t->load_got = t->step_got;
	t->load_cpu = load_mean_ns > 0 ? fmin(cpu_ns / load_mean_ns, 1) : 0;
	if (s->workers == 0)
		main_ns = fmax(0, main_ns - cpu_ns);
	for (size_t i = 0; i < t->count; i++)
		step_ns += (double)t->compute_ns[i] + series_time(t->handover_ns, i);
	if (step_ns > 0)
		t->step_cpu = main_ns * (double)t->count / step_ns;
	t->step_threads = fmax(1, t->step_cpu / t->step_got);
	t->step_cpu /= t->step_threads;
	/* A load that waits for its own threads or processes needs the cores that they use. */
	if (s->worker_cores > t->load_cpu / t->load_got + THREADS_MORE) {
		/* If the loading thread hardly works, load_got says nothing about busy threads. */
		if (t->load_cpu < t->load_got / 2)
			t->load_got = share_of_thread(
				&t->share, fmax(1, s->workers) + t->step_cpu * t->step_threads, 1);
		t->load_cpu = fmin(1, s->worker_cores) * t->load_got;
	}
	/* A thread that works little is taken to have a core for itself: it waits for one only when
	 * it wakes up, however many others run. Other threads get at least what they used. */
	works = t->load_cpu / t->load_got;
	t->load_got = works < LITTLE_WORK ? 1 : fmax(t->load_got, t->load_cpu);
	t->step_got = t->step_cpu < LITTLE_WORK ? 1 : fmax(t->step_got, t->step_cpu);
	if (s->load_cpu_count && works < HARDLY_WORK) {
		t->load_got = t->step_got = 1;
		t->share.count = 0;
	}
}

static int fill(struct trace *t, const struct batch_series *s, const struct steps *steps,
		const float *loads, double load_mean_ns)
{
	size_t most = (SAMPLE_PARTS + 1) * SAMPLE_PART, room = s->count < most ? s->count : most, e;
	struct lag_input lags = {
		.wait_ns = malloc(room * sizeof(float)),
		.is_ready = malloc(room),
		.receive_ns = s->receive_count ? s->receive_ns / (double)s->receive_count : NAN,
	};
	int r = trace_make_room(t, room);

	if (!lags.wait_ns || !lags.is_ready)
		r = -ENOMEM;
	if (r == 0)
		r = take_batches(t, steps, loads, load_mean_ns, &lags);
	if (r == 0)
		r = find_lags(t, s, &lags);
	for (e = 0; r == 0 && e < t->epoch_count; e++) {
		t->time_ns += e ? t->epochs[e].setup_ns : 0;
		t->time_ns += e + 1 < t->epoch_count ? t->epochs[e].stop_ns : 0;
	}
	if (r == 0 && t->workers > 1)
		r = trace_find_factors(t, (size_t)t->workers);
	free(lags.wait_ns);
	free(lags.is_ready);
	return r;
}

int take_trace(const struct batch_series *s, const struct finding *f, struct trace *ret)
{
	const struct steps steps = find_steps(s, f);
	/* Without workers, a wait is as long as its load. */
	const float *loads = !s->load_ns && s->workers == 0 ? s->wait_ns : s->load_ns;
	double load_mean_ns, whole_ns;
	size_t known_count;
	int r;

	*ret = (struct trace){
		.workers = series_busy_workers(s),
		.is_thread = s->is_thread == 1,
		.restarts = s->persistent != 1,
		.share = s->share,
	};
	if (s->workers > TRACE_WORKERS || !loads || !steps.waits || !s->compute_ns ||
	    !f->steady_count)
		return 0;
	load_mean_ns = stats_mean(loads, s->count, &known_count);
	if ((double)known_count < KNOWN_LEAST * (double)s->count)
		return 0;
	r = fill(ret, s, &steps, loads, load_mean_ns);
	if (r < 0)
		return r;
	whole_ns = whole_time_ns(&steps);
	ret->per_s = whole_ns > 0 ? (double)s->count / whole_ns * 1e9 : NAN;
	find_cpu(ret, s, load_mean_ns);
	find_receiving(ret, s);
	return 0;
}
