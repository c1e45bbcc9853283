/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/skipped.h"

#include <math.h>

#include "analysis/statistics/stats.h"

/* a batch is skipped only if its step takes at most this share of the mean step */
#define STEP_MOST     0.1
#define LONG_MOST     0.05 /* at most this share of the skipped batches may have longer steps */
#define WAITING_LEAST 0.5
#define PASS_STEP_NS  5e4 /* most steps of a pass take at most this; any model takes longer */
#define PASS_SHORT    0.75 /* least share of a pass's steps that are shorter than PASS_STEP_NS */
#define PASS_STEPS    0.02 /* a pass's mean step takes at most this share of the run's mean step */
#define PASS_LEAST    0.05

/* Returns false if the GPU was idle. Even a short step may use it, as launches return at once. */
static bool may_use_gpu(const struct batch_series *s, size_t i)
{
	return !series_has(s->gpu_busy_ns, i) || s->gpu_busy_ns[i] > 0;
}

/* Returns the index after the skipped batches that start at `begin`; `begin`: there are none. */
static size_t end_of_skipped(const struct batch_series *s, bool has_gpu, size_t begin, size_t end,
			     double most_ns)
{
	size_t until = begin, long_count = 0;

	for (size_t i = begin; i < end && series_has(s->compute_ns, i); i++) {
		if (has_gpu && may_use_gpu(s, i))
			break;
		const bool is_long = (double)s->compute_ns[i] > most_ns;

		long_count += is_long;
		if (!is_long && (double)long_count <= LONG_MOST * (double)(i + 1 - begin))
			until = i + 1;
	}
	return until;
}

void skipped_find(const struct batch_series *s, const struct finding *f, bool has_gpu,
		  struct skipped *ret)
{
	double most_ns, all_ns = 0, skipped_ns = 0;
	struct series_walk e = {0};
	size_t step_count;

	*ret = (struct skipped){0};
	if (!s->compute_ns || !s->wait_ns)
		return;
	most_ns = fmin(SKIPPED_STEP_NS,
		       STEP_MOST * stats_mean(s->compute_ns, s->count, &step_count));
	while (series_walk_epochs(s, &e)) {
		size_t until = end_of_skipped(s, has_gpu, e.begin, e.end, most_ns);

		/* An epoch whose steps are all short only looks at the data: it skips nothing. */
		if (until == e.end || until - e.begin < SKIPPED_FEWEST)
			until = e.begin;
		ret->count += until - e.begin;
		for (size_t i = e.begin; i < e.end; i++) {
			const double wait_ns = stall_not_ready_ns(s, f, i);

			all_ns += wait_ns;
			skipped_ns += i < until ? wait_ns : 0;
			/* The run's first wait is start-up and does not count. */
			if (i < until && (i > 0 || s->is_part) && series_has(s->wait_ns, i))
				ret->wait_ns += (double)s->wait_ns[i];
		}
	}
	if (ret->count && s->count - ret->count >= SKIPPED_FEWEST &&
	    skipped_ns >= WAITING_LEAST * all_ns && skipped_ns > 0)
		ret->wait_share = skipped_ns / all_ns;
	else
		*ret = (struct skipped){0};
}

/* Returns true if no batch of an epoch is used. Other programs may have made some steps longer. */
static bool is_pass(const struct batch_series *s, bool has_gpu, size_t begin, size_t end,
		    double mean_ns)
{
	const double count = (double)(end - begin);
	double short_count = 0, ns = 0;

	for (size_t i = begin; i < end; i++) {
		if (!series_has(s->compute_ns, i) || (has_gpu && may_use_gpu(s, i)))
			return false;
		short_count += (double)s->compute_ns[i] <= PASS_STEP_NS;
		ns += (double)s->compute_ns[i];
	}
	return short_count >= PASS_SHORT * count && ns <= PASS_STEPS * mean_ns * count;
}

static void add_pass(const struct batch_series *s, const struct finding *f, size_t begin,
		     size_t end, struct passes *ret)
{
	ret->epoch_count++;
	ret->count += end - begin;
	for (size_t i = begin; i < end; i++) {
		const double wait_ns = series_time(s->wait_ns, i);
		const double not_ready_ns = fmin(stall_not_ready_ns(s, f, i), wait_ns);

		if (i == 0 && !s->is_part)
			continue;
		ret->time_ns += wait_ns;
		ret->not_ready_ns += not_ready_ns;
		if (s->state[i] & SERIES_STEADY)
			ret->received_ns += wait_ns - not_ready_ns;
	}
}

void skipped_find_passes(const struct batch_series *s, const struct finding *f, bool has_gpu,
			 struct passes *ret)
{
	struct series_walk e = {0};
	size_t restarts = 0, step_count;
	double mean_ns;

	*ret = (struct passes){0};
	if (!s->compute_ns || !s->wait_ns)
		return;
	mean_ns = stats_mean(s->compute_ns, s->count, &step_count);
	while (series_walk_epochs(s, &e)) {
		const struct account_restart restart =
			account_restart(s, &restarts, s->runs[e.run].epoch);

		if (!is_pass(s, has_gpu, e.begin, e.end, mean_ns))
			continue;
		add_pass(s, f, e.begin, e.end, ret);
		ret->time_ns += restart.start_ns;
	}
	if (ret->count < SKIPPED_FEWEST || s->count - ret->count < SKIPPED_FEWEST ||
	    !(ret->time_ns >= PASS_LEAST * f->account.time_ns))
		*ret = (struct passes){0};
}
