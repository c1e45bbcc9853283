/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/split.h"

#include <math.h>
#include <string.h>

#include "analysis/statistics/stats.h"

#define COLD_FACTOR       1.3
#define ISOLATED_SHARE    0.005
#define ISOLATED_FEWEST   2
#define ISOLATED_LEAST    0.7
#define CAPACITY          1.0
#define CAPACITY_MARGINAL 0.9
#define CAPACITY_HALTS    1.25
#define TOGETHER          0.5
#define TOGETHER_FACTOR   1.3
#define SHIFT_PARTS       64
#define SHIFT_FEWEST      4 /* a shift has at least this many parts before it, and after it */
#define SHIFT_QUARTERS    4
#define SHIFT_LOADS       (2 * (size_t)SHIFT_PARTS)
#define SHIFT_FACTOR      1.3
#define SHIFT_Z           6.0

static void find_cold(const struct batch_series *s, const struct finding *f, struct cold *ret)
{
	struct part {
		double load_ns, stall_ns, time_ns;
		size_t loads, count;
	} parts[2] = {0};
	struct series_place at = SERIES_BEGIN;

	*ret = (struct cold){NAN, NAN, NAN, NAN, NAN, 0};
	while (series_next(s, &at)) {
		struct part *part = &parts[at.epoch != s->runs[0].epoch];

		if (!(s->state[at.i] & SERIES_STEADY))
			continue;
		part->count++;
		part->time_ns += (double)s->wait_ns[at.i] + (double)s->compute_ns[at.i];
		part->stall_ns += stall_not_ready_ns(s, f, at.i);
		if (series_has(s->load_ns, at.i)) {
			part->load_ns += (double)s->load_ns[at.i];
			part->loads++;
		}
	}
	if (!parts[0].loads || !parts[1].loads || s->runs[0].epoch != 0)
		return;
	ret->first_load_ns = parts[0].load_ns / (double)parts[0].loads;
	ret->later_load_ns = parts[1].load_ns / (double)parts[1].loads;
	ret->excess_ns = parts[0].load_ns - ret->later_load_ns * (double)parts[0].loads;
	ret->first_ratio = parts[0].stall_ns / parts[0].time_ns;
	ret->later_ratio = parts[1].stall_ns / parts[1].time_ns;
	ret->owned_ns = parts[0].stall_ns -
			parts[1].stall_ns / (double)parts[1].count * (double)parts[0].count;
	if (!(ret->first_load_ns >= COLD_FACTOR * ret->later_load_ns && ret->owned_ns > 0))
		ret->owned_ns = 0;
}

/* Parts of the run with equally many loads, and the mean load of each. */
struct shift_parts {
	size_t begin[SHIFT_PARTS];
	double mean_ns[SHIFT_PARTS];
};

static bool fill_parts(const struct batch_series *s, struct shift_parts *ret)
{
	size_t count = 0, number = 0, i;
	struct stats_moments moments = {0};

	for (i = 0; s->load_ns && i < s->count; i++)
		count += series_is_steady(s, s->load_ns, i);
	if (count < SHIFT_LOADS)
		return false;
	for (i = 0; i < s->count; i++) {
		size_t part = number * SHIFT_PARTS / count;

		if (!series_is_steady(s, s->load_ns, i))
			continue;
		if (part != (number - (number > 0)) * SHIFT_PARTS / count || !number) {
			moments = (struct stats_moments){0};
			ret->begin[part] = i;
		}
		stats_add(&moments, (double)s->load_ns[i]);
		ret->mean_ns[part] = moments.mean;
		number++;
	}
	return true;
}

static bool is_lasting(const double *means_ns, size_t at, double before_ns)
{
	for (size_t i = 0; i < SHIFT_QUARTERS; i++) {
		size_t begin = at + (SHIFT_PARTS - at) * i / SHIFT_QUARTERS;
		size_t end = at + (SHIFT_PARTS - at) * (i + 1) / SHIFT_QUARTERS;

		if (!(stats_moments_of(means_ns + begin, end - begin).mean >=
		      SHIFT_FACTOR * before_ns))
			return false;
	}
	return true;
}

/* Finds the batch from which on loads stay longer (is_lasting()), by the highest Welch z. */
static void find_shift(const struct batch_series *s, struct shift *ret)
{
	struct shift_parts parts;
	double most = SHIFT_Z;

	*ret = (struct shift){.before_ns = NAN, .after_ns = NAN};
	if (!fill_parts(s, &parts))
		return;
	for (size_t at = SHIFT_FEWEST; at <= SHIFT_PARTS - SHIFT_FEWEST; at++) {
		const struct stats_moments before = stats_moments_of(parts.mean_ns, at);
		const struct stats_moments after =
			stats_moments_of(parts.mean_ns + at, SHIFT_PARTS - at);
		double z = stats_welch(&after, &before);

		if (!(z >= most) || !is_lasting(parts.mean_ns, at, before.mean))
			continue;
		most = z;
		*ret = (struct shift){parts.begin[at], before.mean, after.mean};
	}
}

struct pool {
	double wait_ns;
	/* sum of the waits with SERIES_QUEUE_KNOWN, and of those with a later batch ready */
	double queue_known_ns, queued_ns;
	double load_ns; /* sum of the loads; those of slow workers are divided by slow->factor */
	size_t load_count;
};

struct pools {
	struct pool before, after;
	double queue_known_ns, queued_ns;
	double wait_ns; /* waits for batches that were not ready, also in a cold epoch */
};

static void pool_add(const struct batch_series *s, const struct slow_workers *slow, size_t i,
		     double wait_ns, struct pool *pool)
{
	size_t k;

	pool->wait_ns += wait_ns;
	if (s->state[i] & SERIES_QUEUE_KNOWN) {
		pool->queue_known_ns += wait_ns;
		pool->queued_ns += s->state[i] & SERIES_QUEUE ? wait_ns : 0;
	}
	if (!series_has(s->load_ns, i))
		return;
	for (k = 0; k < slow->count && k < SLOW_MOST; k++)
		if (slow->list[k] == s->worker[i])
			break;
	pool->load_ns += (double)s->load_ns[i] / (k < slow->count ? slow->factor : 1);
	pool->load_count++;
}

/* Adds waits to the pool before or after the shift. Waits of a cold epoch belong to neither. */
static void fill_pools(const struct batch_series *s, const struct finding *f,
		       const struct diagnosis *d, struct pools *ret)
{
	struct series_place at = SERIES_BEGIN;

	*ret = (struct pools){0};
	while (series_next(s, &at)) {
		const double wait_ns = stall_not_ready_ns(s, f, at.i);

		if (!(s->state[at.i] & SERIES_STEADY))
			continue;
		ret->wait_ns += wait_ns;
		if (!(d->cold.owned_ns > 0) || at.epoch != s->runs[0].epoch)
			pool_add(s, &d->slow, at.i, wait_ns,
				 at.i < d->shift.at ? &ret->before : &ret->after);
	}
	ret->queue_known_ns = ret->before.queue_known_ns + ret->after.queue_known_ns;
	ret->queued_ns = ret->before.queued_ns + ret->after.queued_ns;
}

static double isolated_ns(const struct batch_series *s, const struct finding *f,
			  const struct diagnosis *d, const struct pools *pools)
{
	const struct stats_column starved = series_column(s, stall_waits(s, f), SERIES_STARVED);
	size_t count = (size_t)ceil(ISOLATED_SHARE * (double)f->starved_count);
	double ns;

	if (!f->starved_count || s->workers == 0 || d->wait.regular || d->load.regular)
		return 0;
	if (count < ISOLATED_FEWEST)
		count = ISOLATED_FEWEST;
	count = count < f->starved_count ? count : f->starved_count;
	ns = stats_sum_largest(&starved, count);
	return ns < ISOLATED_LEAST * pools->wait_ns ? 0 : fmin(ns, pools->wait_ns);
}

static double periodic_share(const struct batch_series *s, const struct diagnosis *d)
{
	const struct period *wait = &d->wait, *load = &d->load;
	double share = 0;
	const int32_t workers = series_busy_workers(s);
	bool is_load = load->batches && load->batches != workers;

	/* Samples sorted by size have a period, too, but no single load to blame. */
	if (load->batches && load->gradual)
		return 0;
	if (wait->regular && workers > 1 && wait->batches > workers && wait->batches % workers == 0)
		share = wait->share;
	if (d->slow.every || (is_load && load->regular) ||
	    (is_load && wait->batches &&
	     (wait->batches % load->batches == 0 || load->batches % wait->batches == 0)))
		share = fmax(share, fmax(load->share, wait->share));
	return fmin(share, 1);
}

bool split_are_slow_together(const struct batch_series *s)
{
	const struct stats_column column = series_column(s, s->load_ns, SERIES_STEADY);
	double edge_ns;
	/* number of loads, and of slow loads, among the next W batches (W workers) */
	size_t ahead = 0, slow_ahead = 0, end = 0;
	double slow = 0, all = 0;

	if (!s->load_ns || s->workers < 2)
		return false;
	edge_ns = TOGETHER_FACTOR * stats_median(&column);
	for (size_t i = 0; i < s->count; i++) {
		for (; end < s->count && end < i + (size_t)s->workers; end++) {
			ahead += s->load_ns[end] >= 0;
			slow_ahead += s->load_ns[end] >= (float)edge_ns;
		}
		if (s->state[i] & SERIES_STARVED && !(s->state[i] & SERIES_QUEUE)) {
			all += (double)ahead;
			slow += (double)slow_ahead;
		}
		ahead -= s->load_ns[i] >= 0;
		slow_ahead -= s->load_ns[i] >= (float)edge_ns;
	}
	return all > 0 && slow >= TOGETHER * all;
}

static void share_out(const struct batch_series *s, const struct finding *f,
		      const struct pool *pool, double periodic, double part, double *shares)
{
	double rho = pool->load_ns / (double)pool->load_count / series_busy_workers(s) /
		     f->taken_mean_ns;
	double queued = 0;
	enum split_owner rest = isnan(f->load_mean_ns) ? SPLIT_UNSEEN : SPLIT_INTERMITTENT;
	/* Halts of a server lengthen the mean load, though most loads are short. */
	const bool halts = rho >= CAPACITY_MARGINAL && rho < CAPACITY_HALTS &&
			   split_are_slow_together(s);

	if (rho >= CAPACITY && s->workers > 0 && !halts) {
		shares[SPLIT_CAPACITY] += part;
		return;
	}
	shares[SPLIT_PERIODIC] += part * periodic;
	part *= 1 - periodic;
	if (pool->queue_known_ns > 0 && s->in_order != 0)
		queued = pool->queued_ns / pool->queue_known_ns;
	shares[SPLIT_HEAD_OF_LINE] += part * queued;
	if (rho >= CAPACITY_MARGINAL && s->workers > 0 && !halts)
		rest = SPLIT_CAPACITY;
	shares[rest] += part * (1 - queued);
}

void split_find(const struct batch_series *s, const struct finding *f,
		struct diagnosis *d, double ret_shares[SPLIT_MAX])
{
	double periodic = periodic_share(s, d), rest, isolated, pooled;
	struct pools pools;

	memset(ret_shares, 0, SPLIT_MAX * sizeof(*ret_shares));
	d->queued_share = NAN;
	ret_shares[s->workers == 0 ? SPLIT_SINGLE : SPLIT_UNSEEN] = 1;
	if (!s->wait_ns || !f->steady_count)
		return;
	find_cold(s, f, &d->cold);
	if (!(d->cold.owned_ns > 0))
		find_shift(s, &d->shift);
	fill_pools(s, f, d, &pools);
	if (pools.queue_known_ns > 0)
		d->queued_share = pools.queued_ns / pools.queue_known_ns;
	if (!(pools.wait_ns > 0) || s->workers == 0)
		return;
	ret_shares[SPLIT_UNSEEN] = 0;
	rest = 1;
	ret_shares[SPLIT_COLD] = fmin(rest, d->cold.owned_ns / pools.wait_ns);
	rest -= ret_shares[SPLIT_COLD];
	if (d->slow.worker >= 0)
		ret_shares[SPLIT_SLOW_WORKER] = fmin(rest, d->slow.owned_ns / pools.wait_ns);
	rest -= ret_shares[SPLIT_SLOW_WORKER];
	isolated = isolated_ns(s, f, d, &pools) / pools.wait_ns;
	if (rest == 1)
		ret_shares[SPLIT_ISOLATED] = isolated;
	rest -= ret_shares[SPLIT_ISOLATED];
	pooled = pools.before.wait_ns + pools.after.wait_ns;
	if (!(pooled > 0)) {
		ret_shares[SPLIT_COLD] += rest;
		return;
	}
	share_out(s, f, &pools.before, periodic, rest * pools.before.wait_ns / pooled, ret_shares);
	share_out(s, f, &pools.after, periodic, rest * pools.after.wait_ns / pooled, ret_shares);
}
