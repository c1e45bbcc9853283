/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/take.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/lag.h"

#define SAMPLE_PARTS     16
#define SAMPLE_PART      ((size_t)2048)
#define RECEIVE_LEAST_NS 5e5
#define RUNS_AHEAD       0.01 /* of the time the host waits and the GPU is busy */
#define LITTLE_WORK      0.15 /* of a core */
#define KNOWN_LEAST      0.8  /* of the loads and steps */

/* Whether this part of a long series belongs to the sample. */
static bool is_sampled(size_t part, size_t count)
{
	size_t parts = count / SAMPLE_PART;

	if (parts <= SAMPLE_PARTS)
		return true;
	return part * SAMPLE_PARTS / parts != (part + 1) * SAMPLE_PARTS / parts;
}

/* Without workers the wait is the load (analysis.md 8). */
static const float *find_loads(const struct batch_series *s)
{
	return !s->load_ns && s->workers == 0 ? s->wait_ns : s->load_ns;
}

/* The time of a batch that the replay takes as its step. */
struct steps {
	const float *waits; /* by the clock of the verdict */
	const struct batch_series *series;
	const struct finding *finding;
	double elsewhere_ns; /* a batch */
	double mean_ns;      /* where it is not known */
	bool is_even;
};

static double step_of(const struct steps *steps, size_t i)
{
	const struct batch_series *s = steps->series;

	if (!(s->compute_ns[i] >= 0) || steps->is_even)
		return steps->mean_ns;
	return stall_demand_ns(s, steps->finding, i) + steps->elsewhere_ns;
}

static struct steps find_steps(const struct batch_series *s, const struct finding *f)
{
	struct steps steps = {
		.waits = stall_waits(s, f),
		.series = s,
		.finding = f,
		/*
		 * A host that runs ahead asks for many batches at once and then waits long for the
		 * GPU. The GPU takes them at an even pace.
		 */
		.is_even = f->by_gpu && f->wait_masked_ns > RUNS_AHEAD * f->account.time_ns,
		.elsewhere_ns = s->count ? s->elsewhere_ns / (double)s->count : 0,
	};

	steps.mean_ns = f->demand_mean_ns + steps.elsewhere_ns;
	return steps;
}

/* The part of a wait by the verdict's clock that handing over took; NAN: unknown. */
static double handover_of(const struct steps *steps, size_t i)
{
	const struct batch_series *s = steps->series;
	double host_ns = series_time(s->wait_ns, i), wait_ns = series_time(steps->waits, i);

	if (s->workers == 0)
		return s->load_ns && s->load_ns[i] >= 0 ? fmax(0, wait_ns - (double)s->load_ns[i])
							: 0;
	if (s->handover_ns && s->handover_ns[i] >= 0)
		return host_ns > 0 ? (double)s->handover_ns[i] * (wait_ns / host_ns) : 0;
	return s->state[i] & SERIES_READY ? wait_ns : NAN;
}

static const struct series_epoch *find_epoch(const struct batch_series *s, int32_t epoch)
{
	size_t low = 0, high = s->epoch_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (s->epochs[middle].epoch < epoch)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->epoch_count && s->epochs[low].epoch == epoch ? &s->epochs[low] : NULL;
}

static int add_epoch(struct trace *t, const struct batch_series *s, int32_t epoch)
{
	const struct series_epoch *found = find_epoch(s, epoch);
	struct trace_epoch *grown;

	grown = reallocarray(t->epochs, t->epoch_count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	t->epochs = grown;
	t->epochs[t->epoch_count++] = (struct trace_epoch){
		.begin = t->count,
		.boot_ns = found ? (double)found->boot_ns : NAN,
		.setup_ns = found && found->setup_ns >= 0 ? (double)found->setup_ns : 0,
		.stop_ns = found && found->stop_ns >= 0 ? (double)found->stop_ns : 0,
	};
	return 0;
}

static void add_batch(struct trace *t, const struct steps *steps, size_t i, double load_ns,
		      struct lag_input *lags)
{
	const struct batch_series *s = steps->series;
	double wait_ns = series_time(steps->waits, i), step_ns = step_of(steps, i);
	double handover_ns = handover_of(steps, i);

	t->load_ns[t->count] = (float)load_ns;
	t->compute_ns[t->count] = (float)step_ns;
	t->handover_ns[t->count] = (float)handover_ns;
	t->worker[t->count] = s->worker[i];
	lags->wait_ns[t->count] = (float)wait_ns;
	lags->is_ready[t->count] = (s->state[i] & SERIES_READY) != 0;
	/* Time before the first batch is in no account. */
	t->time_ns += step_ns + (t->count ? wait_ns : 0);
	t->count++;
}

/* The same sum over all batches. */
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
	bool wanted = false;
	int32_t epoch = 0;
	int r;

	while (series_next(s, &at)) {
		bool starts = at.i == 0 || s->runs[at.run].epoch != epoch;

		epoch = s->runs[at.run].epoch;
		if (at.i % SAMPLE_PART == 0)
			wanted = is_sampled(at.i / SAMPLE_PART, s->count);
		if (!wanted)
			continue;
		if (starts || !t->count) {
			r = add_epoch(t, s, epoch);
			if (r < 0)
				return r;
			/* A part of a long run begins in the midst of an epoch. */
			if (!starts)
				t->epochs[0].setup_ns = 0;
		}
		add_batch(t, steps, at.i, loads[at.i] >= 0 ? (double)loads[at.i] : load_mean_ns,
			  lags);
	}
	return 0;
}

/* What it costs the training to take a batch in, if that is enough for its moment to matter. */
static void find_receiving(struct trace *t, const struct batch_series *s)
{
	double receive_ns = s->receive_count ? s->receive_ns / (double)s->receive_count : 0;

	if (s->workers > 0 && receive_ns > RECEIVE_LEAST_NS)
		t->receive_ns = receive_ns;
}

/* Which parts of loads and steps use the CPU, and how much of a core they had. */
static void find_cpu(struct trace *t, const struct batch_series *s, double load_mean_ns)
{
	double cpu_ns = s->load_cpu_count ? s->load_cpu_ns / (double)s->load_cpu_count : 0;
	double main_ns = s->main_cores > 0 ? s->main_cores * t->time_ns / (double)t->count : 0;
	double step_ns = 0;

	/* Where nothing is known of the cores, nobody waited for one. */
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
	/*
	 * A thread that works little waits for a core mostly when it wakes up, whoever else runs.
	 * And a part cannot have been longer than the whole.
	 */
	t->load_got = t->load_cpu < LITTLE_WORK ? 1 : fmax(t->load_got, t->load_cpu);
	t->step_got = t->step_cpu < LITTLE_WORK ? 1 : fmax(t->step_got, t->step_cpu);
}

static double mean_of(const struct batch_series *s, const float *loads, size_t *ret_count)
{
	double sum = 0;
	size_t count = 0, i;

	for (i = 0; i < s->count; i++) {
		if (!(loads[i] >= 0))
			continue;
		sum += (double)loads[i];
		count++;
	}
	*ret_count = count;
	return sum / (double)count;
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
		r = lag_find(t, series_prefetch(s), &lags);
	for (e = 0; r == 0 && e < t->epoch_count; e++) {
		t->time_ns += e ? t->epochs[e].setup_ns : 0;
		t->time_ns += e + 1 < t->epoch_count ? t->epochs[e].stop_ns : 0;
	}
	if (r == 0 && s->workers > 1 && s->workers <= TRACE_WORKERS)
		r = trace_find_factors(t, (size_t)s->workers);
	free(lags.wait_ns);
	free(lags.is_ready);
	return r;
}

int take_trace(const struct batch_series *s, const struct finding *f, struct trace *ret)
{
	const struct steps steps = find_steps(s, f);
	const float *loads = find_loads(s);
	double load_mean_ns, whole_ns;
	size_t known_count;
	int r;

	*ret = (struct trace){
		.workers = s->workers,
		.restarts = s->persistent != 1,
		.share = s->share,
	};
	if (s->workers > TRACE_WORKERS || !loads || !steps.waits || !s->compute_ns ||
	    !f->steady_count)
		return 0;
	load_mean_ns = mean_of(s, loads, &known_count);
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
