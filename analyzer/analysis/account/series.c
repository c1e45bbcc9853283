/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/account/series.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/array.h"

#define FIRST_CAPACITY 1024
#define LONGEST_NS     1e19f
/* a worker counts as loading if it makes at least this share of the busiest worker's loads */
#define LOADING_LEAST  0.05
/* an epoch with fewer batches per worker is ignored when loading workers are counted */
#define LOADING_ROUNDS 2
#define LOADING_KNOWN  0.9  /* an epoch counts if this share of its batches has a known worker */
#define OTHERS_LEAST   0.1  /* other programs that use a smaller share of the cores are ignored */
#define WAITS_LEAST    0.1  /* waits for a worker's threads matter from this share of load time */
#define CHILDREN_LEAST 0.05 /* programs that loads start matter if they use this many cores */
#define OBSERVED       (SERIES_READY_KNOWN | SERIES_READY | SERIES_QUEUE_KNOWN | SERIES_QUEUE)

const struct batch_row BATCH_ROW_UNKNOWN = {
	.times = {[0 ... SERIES_TIMES - 1] = UNKNOWN},
	.load_cpu_ns = UNKNOWN,
	.worker = -1,
	.qdepth = -1,
	.head_ready = -1,
};

void series_init(struct batch_series *series)
{
	memset(series, 0, sizeof(*series));
	series->workers = series->loading = -1;
	series->prefetch_factor = -1;
	series->in_order = -1;
	series->persistent = -1;
	series->iterable = series->is_foreign = series->is_pooled = series->is_thread = -1;
	series->cores = series->main_cores = series->other_cores = series->others_per_s = NAN;
	series->main_share = series->worker_share = series->worker_threads =
		series->worker_cores = NAN;
	series->synchronous = -1;
	series->first_ns = series->last_ns = series->tail_begin_ns = UNKNOWN;
}

static int grow(struct batch_series *series, size_t needed)
{
	size_t capacity = series->capacity ? series->capacity : FIRST_CAPACITY, i;

	while (capacity < needed && capacity <= SIZE_MAX / 4)
		capacity *= 2;
	if (capacity < needed)
		return -ENOMEM;
	for (i = 0; i < SERIES_TIMES; i++)
		if (series->times[i] && !ARRAY_RESIZE(series->times[i], capacity))
			return -ENOMEM;
	if (!ARRAY_RESIZE(series->worker, capacity) || !ARRAY_RESIZE(series->state, capacity))
		return -ENOMEM;
	series->capacity = capacity;
	return 0;
}

static int make_column(struct batch_series *series, float **column)
{
	*column = malloc(series->capacity * sizeof(**column));
	for (size_t i = 0; *column && i < series->count; i++)
		(*column)[i] = NAN;
	return *column ? 0 : -ENOMEM;
}

static int put_time(struct batch_series *series, float **column, int64_t value)
{
	if (!*column && value < 0)
		return 0;
	if (!*column && make_column(series, column) < 0)
		return -ENOMEM;
	(*column)[series->count] = value < 0 ? NAN : (float)value;
	return 0;
}

static int put_ordinal(struct batch_series *series, int32_t epoch, int32_t batch)
{
	const struct series_run *last =
		series->run_count ? &series->runs[series->run_count - 1] : NULL;

	if (last && epoch == last->epoch &&
	    batch == last->batch + (int64_t)(series->count - last->begin))
		return 0;
	if (!ARRAY_GROW(series->runs, series->run_count))
		return -ENOMEM;
	series->runs[series->run_count++] =
		(struct series_run){.begin = series->count, .epoch = epoch, .batch = batch};
	return 0;
}

static uint8_t pack(const struct batch_row *row)
{
	unsigned state = 0;

	if (row->head_ready >= 0)
		state |= SERIES_READY_KNOWN | (row->head_ready ? SERIES_READY : 0);
	if (row->qdepth >= 0)
		state |= SERIES_QUEUE_KNOWN | (row->qdepth ? SERIES_QUEUE : 0);
	return (uint8_t)state;
}

/* Limits the parts of waits, batches `begin` to `end` - 1, to the whole waits. */
static void limit_parts(struct batch_series *series, size_t begin, size_t end)
{
	float *const parts[] = {series->gpu_idle_ns, series->handover_ns, series->sample_ns};

	for (size_t k = 0; k < ARRAY_COUNT(parts); k++)
		for (size_t i = begin; parts[k] && series->wait_ns && i < end; i++)
			if (parts[k][i] > series->wait_ns[i])
				parts[k][i] = series->wait_ns[i];
}

int series_append(struct batch_series *series, const struct batch_row *row)
{
	struct batch_row kept = *row;
	size_t i = series->count, k;

	if (row->wait_ns >= 0 && row->compute_ns >= 0)
		kept.step_ns = UNKNOWN;
	if (i == series->capacity && grow(series, i + 1) < 0)
		return -ENOMEM;
	for (k = 0; k < SERIES_TIMES; k++)
		if (put_time(series, &series->times[k], kept.times[k]) < 0)
			return -ENOMEM;
	if (put_ordinal(series, row->epoch, row->batch) < 0)
		return -ENOMEM;
	limit_parts(series, i, i + 1);
	series->worker[i] = row->worker < 0 || row->worker > INT16_MAX ? -1 : (int16_t)row->worker;
	series->state[i] = pack(row);
	if (row->load_cpu_ns >= 0) {
		series->load_cpu_ns += (double)row->load_cpu_ns;
		series->load_cpu_count++;
	}
	series->count++;
	return 0;
}

int series_add_epoch(struct batch_series *series, const struct series_epoch *epoch)
{
	if (!ARRAY_GROW(series->epochs, series->epoch_count))
		return -ENOMEM;
	series->epochs[series->epoch_count++] = *epoch;
	return 0;
}

static void copy_times(float *to, const float *from, size_t count)
{
	/* The values come from a file, which may be damaged. */
	for (size_t i = 0; i < count; i++)
		to[i] = from[i] >= 0 && from[i] < LONGEST_NS ? from[i] : NAN;
}

int series_extend(struct batch_series *series, const struct series_part *part)
{
	size_t begin = series->count, i, k;

	if (part->count > series->capacity - begin && grow(series, begin + part->count) < 0)
		return -ENOMEM;
	for (k = 0; k < SERIES_TIMES; k++) {
		float **column = &series->times[k];

		if (!*column && !part->times[k])
			continue;
		if (!*column && make_column(series, column) < 0)
			return -ENOMEM;
		if (part->times[k])
			copy_times(*column + begin, part->times[k], part->count);
		for (i = 0; !part->times[k] && i < part->count; i++)
			(*column)[begin + i] = NAN;
	}
	limit_parts(series, begin, begin + part->count);
	memcpy(series->worker + begin, part->worker, part->count * sizeof(*series->worker));
	for (i = 0; i < part->count; i++)
		series->state[begin + i] = part->state[i] & OBSERVED;
	for (i = 0; i < part->run_count; i++) {
		series->count = begin + part->runs[i].begin;
		if (put_ordinal(series, part->runs[i].epoch, part->runs[i].batch) < 0) {
			series->count = begin;
			return -ENOMEM;
		}
	}
	series->count = begin + part->count;
	return 0;
}

void series_cut(const struct batch_series *series, size_t begin, size_t count,
		struct series_run *runs, struct series_part *ret)
{
	*ret = (struct series_part){.count = count,
				    .worker = series->worker + begin,
				    .state = series->state + begin,
				    .runs = runs};
	for (size_t k = 0; k < SERIES_TIMES; k++)
		ret->times[k] = series->times[k] ? series->times[k] + begin : NULL;
	for (size_t run = 0; run < series->run_count && series->runs[run].begin < begin + count;
	     run++) {
		const struct series_run *from = &series->runs[run];
		size_t skipped = from->begin < begin ? begin - from->begin : 0;

		if (series_run_end(series, run) <= begin)
			continue;
		runs[ret->run_count++] = (struct series_run){
			.begin = from->begin + skipped - begin,
			.epoch = from->epoch,
			.batch = (int32_t)(from->batch + (int64_t)skipped),
		};
	}
}

bool series_next(const struct batch_series *series, struct series_place *place)
{
	size_t i = place->i + 1;

	if (i >= series->count)
		return false;
	if (place->run == SIZE_MAX ||
	    (place->run + 1 < series->run_count && i == series->runs[place->run + 1].begin)) {
		const struct series_run *run = &series->runs[++place->run];

		place->is_new = !place->run || run->epoch != place->epoch;
		place->epoch = run->epoch;
		place->batch = run->batch;
	} else {
		place->is_new = false;
		place->batch++;
	}
	place->i = i;
	return true;
}

/* Returns how many workers load in batches `begin` to `end` - 1; 0: unknown. `made` is scratch. */
static size_t count_loading(const struct batch_series *s, size_t begin, size_t end, uint32_t *made)
{
	size_t workers = (size_t)s->workers, known_count = 0, loading = 0, i, w;
	uint32_t most = 0;

	if (end - begin < LOADING_ROUNDS * workers)
		return 0;
	memset(made, 0, workers * sizeof(*made));
	for (i = begin; i < end; i++) {
		if (s->worker[i] < 0 || (size_t)s->worker[i] >= workers)
			continue;
		w = (size_t)s->worker[i];
		known_count++;
		made[w]++;
		most = made[w] > most ? made[w] : most;
	}
	if ((double)known_count < LOADING_KNOWN * (double)(end - begin))
		return 0;
	for (w = 0; w < workers; w++)
		loading += (double)made[w] >= fmax(1, LOADING_LEAST * (double)most);
	return loading;
}

/* Returns the median, over all batches, of how many workers load in the epoch; -1: unknown. */
static int32_t median_loading(const size_t *batches_by_loading, size_t workers)
{
	size_t all = 0, below = 0, number;

	for (number = 1; number <= workers; number++)
		all += batches_by_loading[number];
	for (number = 1; all && number <= workers; number++) {
		below += batches_by_loading[number];
		if (2 * below >= all)
			return (int32_t)number;
	}
	return -1;
}

int32_t series_find_loading(const struct batch_series *s)
{
	size_t workers = s->workers > 0 && s->workers < INT16_MAX ? (size_t)s->workers : 0;
	uint32_t *made = calloc(workers + 1, sizeof(*made));
	size_t *batches = calloc(workers + 1, sizeof(*batches));
	struct series_walk e = {0};
	int32_t loading = -1;

	while (made && batches && workers && series_walk_epochs(s, &e))
		batches[count_loading(s, e.begin, e.end, made)] += e.end - e.begin;
	if (made && batches)
		loading = median_loading(batches, workers);
	free(made);
	free(batches);
	return loading;
}

void series_add_threads(struct batch_series *series, const struct load_facts *facts,
			double load_mean_ns, double loads_at_once)
{
	const double children = facts->children_cores * loads_at_once;
	const double cpu = series_load_cpu_ns(series) / load_mean_ns;
	double unseen = 1 - cpu;

	if (facts->no_core_ns > 0)
		unseen -= facts->no_core_ns / facts->load_ns;
	for (int kind = 0; kind < LOAD_WAIT_MAX; kind++)
		if (facts->wait_ns[kind] > 0)
			unseen -= facts->wait_ns[kind] / facts->load_ns;
	/* Some libraries wait for their threads by calls that dlprof does not see. Then much time
	 * of a load is neither CPU time nor a known wait, and on average a thread is runnable. */
	if (facts->wait_ns[LOAD_WAIT_THREAD] >= WAITS_LEAST * facts->load_ns ||
	    (series->workers > 0 && unseen >= WAITS_LEAST && facts->runnable_threads >= 1))
		series->worker_threads = facts->runnable_threads;
	/* Without workers, the threads belong to the training and not to a load. */
	series->worker_cores = series->workers > 0 ? series->worker_threads : NAN;
	if (children >= CHILDREN_LEAST) {
		series->worker_cores = fmax(series->worker_cores, cpu) + facts->children_cores;
		series->other_cores -= fmin(children, series->other_cores);
		share_take_out(&series->share, children);
	}
}

double series_load_cpu_ns(const struct batch_series *series)
{
	return series->load_cpu_ns / (double)series->load_cpu_count;
}

double series_free_cores(const struct batch_series *series)
{
	/* The run did use cores, even if other programs were measured to use all of them. */
	const double least = 0.05;

	if (isnan(series->other_cores))
		return series->cores;
	return fmax(series->cores - series->other_cores, fmin(least, series->cores));
}

bool series_has_others(const struct batch_series *series)
{
	return series->other_cores >= OTHERS_LEAST * series->cores;
}

bool series_others_differ(const struct batch_series *a, const struct batch_series *b)
{
	const double least = OTHERS_LEAST * fmin(a->cores, b->cores);

	return fabs(a->other_cores - b->other_cores) >= least;
}

void series_done(struct batch_series *series)
{
	for (size_t k = 0; k < SERIES_TIMES; k++)
		free(series->times[k]);
	free(series->epochs);
	free(series->worker);
	free(series->state);
	free(series->runs);
	series_init(series);
}

struct bar bar_of(const struct batch_series *s, size_t begin, size_t end)
{
	struct bar bar = {.begin = begin, .end = end};
	const float *rest = s->compute_ns ? s->compute_ns : s->step_ns;
	size_t count = 0, busy_count = 0, i;

	for (i = begin; i < end; i++) {
		double wait = series_time(s->wait_ns, i), compute = series_time(rest, i);

		/* The last batch of an epoch has a wait but no step; it still counts. */
		if (!series_has(s->wait_ns, i) && !series_has(rest, i))
			continue;
		bar.wait_ns += wait;
		bar.compute_ns += compute;
		bar.most_ns = fmax(bar.most_ns, wait + compute);
		count++;
		if (series_has(s->gpu_busy_ns, i)) {
			bar.busy_ns += (double)s->gpu_busy_ns[i];
			busy_count++;
		}
	}
	bar.wait_ns = count ? bar.wait_ns / (double)count : NAN;
	bar.compute_ns = count ? bar.compute_ns / (double)count : NAN;
	bar.busy_ns = busy_count ? bar.busy_ns / (double)busy_count : NAN;
	return bar;
}

int bars_of(const struct batch_series *s, size_t most, struct bar **ret, size_t *ret_count)
{
	size_t each = (s->count + most - 1) / most, count, i;

	*ret = NULL;
	*ret_count = 0;
	if (!s->count)
		return 0;
	count = (s->count + each - 1) / each;
	*ret = malloc(count * sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	*ret_count = count;
	for (i = 0; i < count; i++)
		(*ret)[i] = bar_of(s, i * each, i + 1 < count ? (i + 1) * each : s->count);
	return 0;
}
