/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/uneven.h"

#include <string.h>

#define MOST_WORKERS  256
#define ROUNDS        2
/* an epoch counts only if the workers of this share of its batches are known */
#define KNOWN_LEAST   0.9
#define WAITING_LEAST 0.5
/* shards are uneven only if earlier waits are at most this share of waits at an epoch's end */
#define BEFORE_WAIT   0.5
#define BEFORE_LEAST  0.1
#define EPOCHS_LEAST  0.5

struct epoch {
	size_t begin, end;
	size_t last[MOST_WORKERS]; /* index after a worker's last batch; `end`: not ended early */
};

static bool is_worker(const struct batch_series *s, size_t i)
{
	return s->worker[i] >= 0 && s->worker[i] < s->workers;
}

static bool next_epoch(const struct batch_series *s, struct series_walk *walk, struct epoch *ret)
{
	const size_t workers = (size_t)s->workers;
	size_t known_count = 0, i;

	if (!series_walk_epochs(s, walk))
		return false;
	*ret = (struct epoch){walk->begin, walk->end, {0}};
	for (i = 0; i < workers; i++)
		ret->last[i] = ret->begin;
	for (i = ret->begin; i < ret->end; i++) {
		if (!is_worker(s, i))
			continue;
		ret->last[s->worker[i]] = i + 1;
		known_count++;
	}
	for (i = 0; i < workers; i++)
		if (ret->last[i] + ROUNDS * workers >= ret->end ||
		    (double)known_count < KNOWN_LEAST * (double)(ret->end - ret->begin))
			ret->last[i] = ret->end;
	return true;
}

static size_t count_lasting(const struct batch_series *s, const struct epoch *e)
{
	size_t count = 0;

	for (int32_t i = 0; i < s->workers; i++)
		count += e->last[i] == e->end;
	return count;
}

static bool ends_early(const struct batch_series *s, const struct epoch *e, size_t i)
{
	return is_worker(s, i) && e->last[s->worker[i]] == i + 1 && i + 1 < e->end;
}

struct part {
	double wait_ns, count;
};

/* Adds each wait of an epoch to parts[m]; m is how many workers still loaded at that time. */
static void add_epoch(const struct batch_series *s, const struct finding *f, bool is_asking,
		      const struct epoch *e, struct part *parts)
{
	size_t loading = count_lasting(s, e);

	for (size_t i = e->end; i-- > e->begin;) {
		loading += ends_early(s, e, i);
		if (!(s->state[i] & SERIES_STEADY))
			continue;
		parts[loading].wait_ns += is_asking ? (double)s->wait_ns[i]
						    : stall_not_ready_ns(s, f, i);
		parts[loading].count++;
	}
}

/* Returns the index from which on at most `most` workers load, or the epoch's end. */
static size_t find_end(const struct batch_series *s, const struct epoch *e, size_t most)
{
	size_t loading = count_lasting(s, e), i;

	for (i = e->end; i > e->begin; i--) {
		loading += ends_early(s, e, i - 1);
		if (loading > most)
			break;
	}
	return i;
}

static void name_workers(const struct batch_series *s, const struct epoch *e, size_t from,
			 struct uneven *ret)
{
	ret->named = 0;
	for (int32_t i = 0; i < s->workers && ret->loading <= UNEVEN_NAMED; i++)
		if (e->last[i] > from && ret->named < UNEVEN_NAMED)
			ret->list[ret->named++] = (int16_t)i;
}

/*
 * Describes the epochs at whose end at most ret->loading workers still load. If too few of all
 * batches are in such epochs, shards are even: sets ret->loading to 0.
 */
static void describe(const struct batch_series *s, struct uneven *ret)
{
	struct uneven first = {.loading = ret->loading}, own = first;
	double made = 0, before = 0, all = 0, epochs = 0;
	bool are_same = true;
	struct series_walk walk = {0};
	struct epoch e;

	while (next_epoch(s, &walk, &e)) {
		const size_t from = find_end(s, &e, (size_t)ret->loading);

		if (from == e.end)
			continue;
		name_workers(s, &e, from, epochs ? &own : &first);
		are_same &= !epochs++ || (own.named == first.named &&
					  !memcmp(own.list, first.list, sizeof(own.list)));
		all += (double)(e.end - e.begin);
		before += (double)(from - e.begin);
		for (size_t i = e.begin; i < e.end; i++)
			made += is_worker(s, i) && e.last[s->worker[i]] > from;
	}
	if (all < EPOCHS_LEAST * (double)s->count) {
		ret->loading = 0;
		return;
	}
	memcpy(ret->list, first.list, sizeof(ret->list));
	ret->named = are_same ? first.named : 0;
	ret->share = made / all;
	ret->begin = before / epochs;
	ret->batches = all / epochs;
}

void uneven_find(const struct batch_series *s, const struct finding *f, bool is_asking,
		 struct uneven *ret)
{
	struct part parts[MOST_WORKERS + 1] = {0}, all = {0}, after = {0}, before;
	struct series_walk walk = {0};
	struct epoch e;
	int32_t m;

	*ret = (struct uneven){0};
	if (s->iterable != 1 || s->in_order == 0 || s->workers < 2 || s->workers > MOST_WORKERS ||
	    series_has_idle_workers(s) || !s->wait_ns)
		return;
	while (next_epoch(s, &walk, &e))
		add_epoch(s, f, is_asking, &e, parts);
	for (m = 0; m <= s->workers; m++) {
		all.wait_ns += parts[m].wait_ns;
		all.count += parts[m].count;
	}
	for (m = 0; m < s->workers; m++) {
		after.wait_ns += parts[m].wait_ns;
		after.count += parts[m].count;
		if (m > 0 && after.wait_ns >= WAITING_LEAST * all.wait_ns)
			break;
	}
	before = (struct part){all.wait_ns - after.wait_ns, all.count - after.count};
	if (m == s->workers || !(after.wait_ns > 0) || before.count < BEFORE_LEAST * all.count ||
	    before.wait_ns * after.count > BEFORE_WAIT * after.wait_ns * before.count)
		return;
	ret->loading = m;
	ret->wait_share = after.wait_ns / all.wait_ns;
	describe(s, ret);
}
