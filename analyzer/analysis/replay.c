/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/replay.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/stats.h"

#define FEWEST_BATCHES 3000
#define SAMPLE_PARTS   16
#define SAMPLE_PART    ((size_t)2048)
#define FACTOR_LEAST   0.15
#define FACTOR_Z       3.0
#define NS_PER_S       1e9
#define RUNS_AHEAD     0.01 /* of the time the host waits and the GPU is busy */

double replay_welch(const struct stats_moments *a, const struct stats_moments *b)
{
	double error;

	if (a->count < 2 || b->count < 2)
		return NAN;
	error = a->squares / (double)(a->count - 1) / (double)a->count +
		b->squares / (double)(b->count - 1) / (double)b->count;
	if (error > 0)
		return (a->mean - b->mean) / sqrt(error);
	return a->mean > b->mean ? INFINITY : a->mean < b->mean ? -INFINITY : 0;
}

/* Whether this part of the steady batches belongs to the sample of a long series. */
static bool is_sampled(size_t part, size_t count)
{
	size_t parts = count / SAMPLE_PART;

	if (parts <= SAMPLE_PARTS)
		return true;
	return part * SAMPLE_PARTS / parts != (part + 1) * SAMPLE_PARTS / parts;
}

static int by_value(const void *a, const void *b)
{
	float left = *(const float *)a, right = *(const float *)b;

	return left < right ? -1 : left > right;
}

/* Middle of the known values, the lower one of two; sorts. */
static double lower_median(float *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_value);
	return count ? (double)values[(count - 1) / 2] : NAN;
}

/* The loads of one worker, to `scratch`; their logarithms' moments. */
static size_t pick(const struct trace *trace, int16_t which, float *scratch,
		   struct stats_moments *logs)
{
	size_t count = 0, i;

	for (i = 0; i < trace->count; i++) {
		if (trace->worker[i] != which)
			continue;
		scratch[count++] = trace->load_ns[i];
		if (trace->load_ns[i] > 0)
			stats_add(logs, log((double)trace->load_ns[i]));
	}
	return count;
}

static int find_factors(struct trace *trace, size_t workers)
{
	struct stats_moments *logs = calloc(workers, sizeof(*logs)), middle = {0};
	float *medians = malloc(workers * sizeof(*medians)), *sorted = NULL, *scratch = NULL;
	size_t known = 0, i, at;
	double reference;
	int r = -ENOMEM;

	sorted = malloc(workers * sizeof(*sorted));
	scratch = malloc((trace->count + 1) * sizeof(*scratch));
	trace->factors = malloc(workers * sizeof(*trace->factors));
	if (!logs || !medians || !sorted || !scratch || !trace->factors)
		goto out;
	trace->factor_count = workers;
	for (i = 0; i < workers; i++) {
		size_t count = pick(trace, (int16_t)i, scratch, &logs[i]);

		trace->factors[i] = 1;
		medians[i] = (float)lower_median(scratch, count);
		if (count)
			sorted[known++] = medians[i];
	}
	reference = lower_median(sorted, known);
	for (i = 0; i < workers; i++)
		if ((double)medians[i] == reference)
			middle = logs[i];
	for (i = 0; reference > 0 && i < workers; i++) {
		double factor = (double)medians[i] / reference;

		if (fabs(factor - 1) > FACTOR_LEAST &&
		    fabs(replay_welch(&logs[i], &middle)) >= FACTOR_Z)
			trace->factors[i] = factor;
	}
	for (at = 0; at < trace->count; at++) {
		int16_t which = trace->worker[at];

		if (which >= 0 && (size_t)which < workers && trace->factors[which] > 0)
			trace->load_ns[at] /= (float)trace->factors[which];
	}
	r = 0;
out:
	free(logs);
	free(medians);
	free(sorted);
	free(scratch);
	return r;
}

/* Without workers the wait is the load (analysis.md 8). */
static const float *find_loads(const struct batch_series *s)
{
	return !s->load_ns && s->workers == 0 ? s->wait_ns : s->load_ns;
}

/* What the consumer's process needs besides loads, which without workers are its own. */
static double main_cpu_ns(const struct batch_series *s, const struct finding *f)
{
	double ns = s->main_cores * f->steady_ns / (double)f->steady_count;

	if (s->workers == 0 && s->load_cpu_count)
		ns -= s->load_cpu_ns / (double)s->load_cpu_count;
	return ns > 0 ? ns : 0;
}

int trace_init(const struct batch_series *s, const struct finding *f, struct trace *ret)
{
	const float *loads = find_loads(s);
	const float *busy = s->synchronous == 0 ? s->gpu_busy_ns : NULL;
	/*
	 * A host that runs ahead asks for many batches at once and then waits for the GPU long;
	 * what takes them at an even pace is the GPU.
	 */
	bool is_even = f->by_gpu && f->wait_masked_ns > RUNS_AHEAD * f->steady_ns;
	size_t room, number = 0, i;
	bool wanted = false;
	int r = 0;

	*ret = (struct trace){
		.replay_count = FEWEST_BATCHES,
		.delivery_ns = isnan(f->delivery_ns) ? 0 : f->delivery_ns,
		.theta_ns = f->theta_ns,
		.cpu_ns = s->load_cpu_count ? s->load_cpu_ns / (double)s->load_cpu_count : NAN,
		.cores = series_free_cores(s),
		.main_cpu_ns = main_cpu_ns(s, f),
	};
	if (!loads || (s->synchronous == 0 && !busy) || !f->steady_count)
		return 0;
	room = f->steady_count;
	if (room > (SAMPLE_PARTS + 1) * SAMPLE_PART)
		room = (SAMPLE_PARTS + 1) * SAMPLE_PART;
	ret->load_ns = malloc(room * sizeof(*ret->load_ns));
	ret->compute_ns = malloc(room * sizeof(*ret->compute_ns));
	ret->worker = malloc(room * sizeof(*ret->worker));
	if (!ret->load_ns || !ret->compute_ns || !ret->worker)
		r = -ENOMEM;
	for (i = 0; r == 0 && i < s->count && ret->count < room; i++) {
		double step_ns;

		if (!(s->state[i] & SERIES_STEADY))
			continue;
		if (number % SAMPLE_PART == 0)
			wanted = is_sampled(number / SAMPLE_PART, f->steady_count);
		number++;
		if (!wanted)
			continue;
		step_ns = busy      ? (double)busy[i]
			  : is_even ? f->demand_mean_ns
				    : stall_demand_ns(s, f, i);
		if (!(loads[i] >= 0 && step_ns >= 0))
			continue;
		ret->load_ns[ret->count] = loads[i];
		ret->compute_ns[ret->count] = (float)step_ns;
		ret->worker[ret->count++] = s->worker[i];
	}
	if (r == 0 && s->workers > 1 && s->workers <= REPLAY_WORKERS)
		r = find_factors(ret, (size_t)s->workers);
	return r;
}

void trace_done(struct trace *trace)
{
	free(trace->load_ns);
	free(trace->compute_ns);
	free(trace->worker);
	free(trace->factors);
	*trace = (struct trace){0};
}

/* The state of a replay: ends of loads, and deliveries as far back as matters. */
struct replay {
	const struct trace *trace;
	const struct replay_setup *setup;
	size_t workers, slots;
	double *free_ns; /* when each worker has done all it was given */
	double *slot_ns; /* in order: deliveries; else: ends of the loads of each worker */
	size_t *head;    /* not in order: each worker's first undelivered load */
	size_t *load_count;
};

static double load_of(const struct replay *r, size_t at, size_t worker)
{
	const struct trace *t = r->trace;
	double ns = (double)t->load_ns[at] * r->setup->load_factor;

	return r->setup->equal || worker >= t->factor_count ? ns : ns * t->factors[worker];
}

/* Counts round and round; a division for every step of a replay would be most of its time. */
static size_t next(size_t at, size_t count)
{
	return at + 1 < count ? at + 1 : 0;
}

/* Gives the load at this place of the trace to a worker at this time. */
static void dispatch(struct replay *r, size_t at, size_t worker, double now_ns)
{
	size_t prefetch = r->slots / r->workers;
	double start_ns = fmax(r->free_ns[worker], now_ns);

	r->free_ns[worker] = start_ns + load_of(r, at, worker);
	r->slot_ns[worker * prefetch + r->load_count[worker]++ % prefetch] = r->free_ns[worker];
}

/* The end of the load that finishes first of all that are not delivered. */
static double take_first(struct replay *r, size_t *ret_worker)
{
	size_t prefetch = r->slots / r->workers, best = 0, w;
	double best_ns = INFINITY;

	for (w = 0; w < r->workers; w++) {
		double ns = r->slot_ns[w * prefetch + r->head[w] % prefetch];

		if (r->head[w] < r->load_count[w] && ns < best_ns) {
			best_ns = ns;
			best = w;
		}
	}
	r->head[best]++;
	*ret_worker = best;
	return best_ns;
}

static struct replay_result run(struct replay *r, size_t count, size_t dropped)
{
	const struct trace *t = r->trace;
	double request_ns = 0, begin_ns = 0, wait_ns, starved_ns = 0, time_ns, end_ns;
	size_t j, worker, at = 0, ahead = 0, turn = 0, slot = 0;

	for (j = 0; !r->setup->in_order && j < r->slots; j++, ahead = next(ahead, t->count))
		dispatch(r, ahead, j % r->workers, 0);
	for (j = 0; j < count; j++) {
		if (j == dropped)
			begin_ns = request_ns;
		if (r->setup->in_order) {
			/* A slot that was never used is 0: asked for at once. */
			worker = turn;
			end_ns =
				fmax(r->free_ns[worker], r->slot_ns[slot]) + load_of(r, at, worker);
			r->free_ns[worker] = end_ns;
		} else {
			end_ns = take_first(r, &worker);
		}
		wait_ns = fmax(0, end_ns - request_ns) + t->delivery_ns;
		if (j >= dropped && end_ns > request_ns && wait_ns >= t->theta_ns)
			starved_ns += wait_ns;
		request_ns += wait_ns;
		if (r->setup->in_order) {
			r->slot_ns[slot] = request_ns;
		} else {
			dispatch(r, ahead, worker, request_ns);
			ahead = next(ahead, t->count);
		}
		request_ns += (double)t->compute_ns[at];
		at = next(at, t->count);
		turn = next(turn, r->workers);
		slot = next(slot, r->slots);
	}
	time_ns = request_ns - begin_ns;
	if (!(time_ns > 0))
		return (struct replay_result){NAN, NAN};
	return (struct replay_result){(double)(count - dropped) / time_ns * NS_PER_S,
				      starved_ns / time_ns};
}

/* Every batch is loaded while the consumer waits. */
static struct replay_result run_alone(const struct trace *t, double load_factor)
{
	double time_ns = 0, starved_ns = 0;
	size_t i;

	for (i = 0; i < t->count; i++) {
		double load_ns = (double)t->load_ns[i] * load_factor;

		time_ns += load_ns + (double)t->compute_ns[i];
		if (load_ns >= t->theta_ns)
			starved_ns += load_ns;
	}
	if (!(time_ns > 0))
		return (struct replay_result){NAN, NAN};
	return (struct replay_result){(double)t->count / time_ns * NS_PER_S, starved_ns / time_ns};
}

double replay_most(const struct trace *t, double load_factor)
{
	double cpu_ns = t->cpu_ns * load_factor + t->main_cpu_ns;

	return t->cores > 0 && cpu_ns > 0 ? t->cores / cpu_ns * NS_PER_S : INFINITY;
}

/* What is slower for want of cores waits for data. */
static void cap(const struct trace *t, double load_factor, double floor_per_s,
		struct replay_result *result)
{
	double most = replay_most(t, load_factor);

	if (most < floor_per_s)
		most = floor_per_s;
	if (result->batches_per_s <= most)
		return;
	result->stall_ratio = 1 - (1 - result->stall_ratio) * most / result->batches_per_s;
	result->batches_per_s = most;
}

struct replay_result replay_run(const struct trace *trace, const struct replay_setup *setup,
				double floor_per_s)
{
	struct replay replay = {.trace = trace, .setup = setup};
	struct replay_result result = {NAN, NAN};
	size_t count = trace->count > trace->replay_count ? trace->count : trace->replay_count;

	if (!trace->count || setup->workers < 0)
		return result;
	if (setup->workers == 0) {
		result = run_alone(trace, setup->load_factor);
		cap(trace, setup->load_factor, floor_per_s, &result);
		return result;
	}
	replay.workers = (size_t)setup->workers;
	replay.slots =
		replay.workers * (size_t)(setup->prefetch_factor > 0 ? setup->prefetch_factor : 1);
	if (replay.slots > REPLAY_SLOTS)
		return result;
	if (count < 4 * replay.slots)
		count = 4 * replay.slots;
	replay.free_ns = calloc(replay.workers, sizeof(*replay.free_ns));
	replay.slot_ns = calloc(replay.slots, sizeof(*replay.slot_ns));
	replay.head = calloc(replay.workers, sizeof(*replay.head));
	replay.load_count = calloc(replay.workers, sizeof(*replay.load_count));
	if (replay.free_ns && replay.slot_ns && replay.head && replay.load_count) {
		result = run(&replay, count, replay.slots);
		cap(trace, setup->load_factor, floor_per_s, &result);
	}
	free(replay.free_ns);
	free(replay.slot_ns);
	free(replay.head);
	free(replay.load_count);
	return result;
}
