/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/slow.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/statistics/stats.h"

#define FACTOR  1.3
#define Z_LEAST 4.0
#define SHARE   0.5
#define SAMPLED ((size_t)1 << 18)
#define BLOCK   ((size_t)2048) /* batches sampled as one piece, to keep rounds of workers whole */
/* workers take turns if at least this share of the batches b was loaded by worker b mod W */
#define IN_TURN 0.95
/* "slow" workers that read this many times as much as the others only get larger samples */
#define ALIKE   1.15

struct crew {
	size_t count;
	float *loads;
	size_t begin[SLOW_WORKERS + 2]; /* index in `loads` of a worker's first load, and the end */
	double median_ns[SLOW_WORKERS];
	int16_t order[SLOW_WORKERS]; /* workers' numbers, the one with the shortest loads first */
	bool is_slow[SLOW_WORKERS];
};

static bool is_looked_at(const struct batch_series *s, size_t i)
{
	return s->state[i] & SERIES_STEADY && s->load_ns[i] > 0 && s->worker[i] >= 0 &&
	       s->worker[i] < s->workers &&
	       stats_is_sampled(i / BLOCK, s->count / BLOCK, SAMPLED / BLOCK);
}

static double median(const float *loads, size_t count)
{
	return stats_median(&(struct stats_column){.values = loads, .count = count});
}

static int crew_init(const struct batch_series *s, struct crew *ret)
{
	size_t workers = (size_t)s->workers, count = 0, i, w;
	size_t *next;

	*ret = (struct crew){.count = workers};
	for (i = 0; i < s->count; i++)
		count += is_looked_at(s, i);
	ret->loads = malloc((count + 1) * sizeof(*ret->loads));
	if (!ret->loads)
		return -ENOMEM;
	next = ret->begin + 1;
	for (i = 0; i < s->count; i++)
		if (is_looked_at(s, i))
			next[s->worker[i] + 1]++;
	for (w = 1; w <= workers; w++)
		next[w] += next[w - 1];
	for (i = 0; i < s->count; i++)
		if (is_looked_at(s, i))
			ret->loads[next[s->worker[i]]++] = s->load_ns[i];
	for (w = 0; w < workers; w++)
		ret->median_ns[w] =
			median(ret->loads + ret->begin[w], ret->begin[w + 1] - ret->begin[w]);
	return 0;
}

/* Sorts the workers by their median load. Returns false if a worker has no loads. */
static bool sort_crew(struct crew *crew)
{
	size_t i, k;

	for (i = 0; i < crew->count; i++) {
		int16_t w = (int16_t)i;

		if (!(crew->median_ns[w] > 0))
			return false;
		for (k = i; k > 0 && crew->median_ns[crew->order[k - 1]] > crew->median_ns[w]; k--)
			crew->order[k] = crew->order[k - 1];
		crew->order[k] = w;
	}
	return true;
}

/* Marks as slow the workers above the widest gap between medians, but at most half of all. */
static void part_crew(struct crew *crew)
{
	size_t n = crew->count, best = 1, k;
	double widest = 0;

	for (k = 1; k <= n / 2; k++) {
		double gap = crew->median_ns[crew->order[n - k]] /
			     crew->median_ns[crew->order[n - k - 1]];

		if (gap > widest) {
			widest = gap;
			best = k;
		}
	}
	for (k = 1; k <= best; k++)
		crew->is_slow[crew->order[n - k]] = true;
}

static int measure(const struct crew *crew, struct slow_workers *ret)
{
	size_t all = crew->begin[crew->count], fast = 0, slow = all, w, i;
	struct stats_moments others = {0};
	float *scratch = malloc((all + 1) * sizeof(*scratch));
	double median_ns;

	if (!scratch)
		return -ENOMEM;
	for (w = 0; w < crew->count; w++) {
		for (i = crew->begin[w]; i < crew->begin[w + 1]; i++) {
			scratch[crew->is_slow[w] ? --slow : fast++] = crew->loads[i];
			if (!crew->is_slow[w])
				stats_add(&others, log((double)crew->loads[i]));
		}
	}
	median_ns = median(scratch, fast);
	ret->factor = median(scratch + slow, all - slow) / median_ns;
	free(scratch);
	ret->z = INFINITY;
	for (w = 0; w < crew->count; w++) {
		struct stats_moments own = {0};

		if (!crew->is_slow[w])
			continue;
		for (i = crew->begin[w]; i < crew->begin[w + 1]; i++)
			stats_add(&own, log((double)crew->loads[i]));
		ret->z = fmin(ret->z, stats_welch(&own, &others));
		/* All marked workers must be slow, so the fastest of them determines the factor. */
		if (crew->median_ns[w] < FACTOR * median_ns)
			ret->factor = fmin(ret->factor, crew->median_ns[w] / median_ns);
	}
	return 0;
}

static void add_stalls(const struct batch_series *s, const struct finding *f,
		       const struct crew *crew, struct slow_workers *ret)
{
	const float *waits = stall_waits(s, f);
	double stall_ns = 0, all_ns = 0;

	for (size_t i = 0; i < s->count; i++) {
		bool is_slow = s->worker[i] >= 0 && s->worker[i] < s->workers &&
			       crew->is_slow[s->worker[i]];

		if (s->state[i] & SERIES_STARVED) {
			all_ns += (double)waits[i];
			stall_ns += is_slow ? (double)waits[i] : 0;
		}
		if (is_slow && s->load_ns[i] >= 0)
			ret->owned_ns += fmin(stall_not_ready_ns(s, f, i),
					      (double)s->load_ns[i] * (1 - 1 / ret->factor));
	}
	ret->share = all_ns > 0 ? stall_ns / all_ns : 0;
}

static bool is_in_turn(const struct batch_series *s)
{
	struct series_place at = SERIES_BEGIN;
	size_t known = 0, in_turn = 0;

	while (series_next(s, &at)) {
		if (s->worker[at.i] < 0)
			continue;
		known++;
		in_turn += at.batch % s->workers == s->worker[at.i];
	}
	return (double)in_turn >= IN_TURN * (double)known;
}

static int32_t period_of(const struct crew *crew)
{
	size_t k, w;

	for (k = 1; k < crew->count; k++) {
		if (crew->count % k != 0)
			continue;
		for (w = 0; w < crew->count; w++)
			if (crew->is_slow[w] != crew->is_slow[(w + k) % crew->count])
				break;
		if (w == crew->count)
			return (int32_t)k;
	}
	return (int32_t)crew->count;
}

/* Returns bytes that a load reads in slow workers / in other workers; NAN: unknown. */
static double more_work(const struct crew *crew, const struct slow_work *work)
{
	double bytes[2] = {0}, loads[2] = {0};

	for (size_t w = 0; work && w < crew->count; w++) {
		bytes[crew->is_slow[w]] += work->bytes[w];
		loads[crew->is_slow[w]] += work->loads[w];
	}
	if (!(bytes[0] > 0) || !(bytes[1] > 0) || !(loads[0] > 0) || !(loads[1] > 0))
		return NAN;
	return bytes[1] / loads[1] / (bytes[0] / loads[0]);
}

/* Returns k if every k-th batch is slow because of its samples; 0: the workers are slow. */
static int32_t find_every(const struct batch_series *s, const struct crew *crew,
			  const struct slow_work *work)
{
	double more = more_work(crew, work);
	int32_t period = period_of(crew);

	if (!is_in_turn(s) || more < ALIKE)
		return 0;
	return more >= FACTOR || period < s->workers ? period : 0;
}

static void name_them(const struct crew *crew, struct slow_workers *ret)
{
	ret->worker = crew->order[crew->count - 1];
	for (size_t w = 0; w < crew->count; w++) {
		if (!crew->is_slow[w])
			continue;
		if (ret->count < SLOW_MOST)
			ret->list[ret->count] = (int16_t)w;
		ret->count++;
	}
}

int slow_find(const struct batch_series *s, const struct finding *f, const struct slow_work *work,
	      struct slow_workers *ret)
{
	struct crew crew;
	int r;

	*ret = (struct slow_workers){.worker = -1, .factor = NAN, .z = NAN, .share = NAN};
	if (!s->load_ns || !f->starved || s->workers < 2 || s->workers > SLOW_WORKERS)
		return 0;
	r = crew_init(s, &crew);
	if (r == 0 && sort_crew(&crew)) {
		part_crew(&crew);
		r = measure(&crew, ret);
		if (r == 0)
			add_stalls(s, f, &crew, ret);
		if (r == 0 && ret->factor >= FACTOR && ret->z >= Z_LEAST && ret->share >= SHARE) {
			ret->every = find_every(s, &crew, work);
			if (!ret->every)
				name_them(&crew, ret);
		}
	}
	free(crew.loads);
	return r;
}
