/* SPDX-License-Identifier: Apache-2.0 */
#include "report/run/thread.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/account/boot.h"
#include "analysis/account/step_parts.h"
#include "analysis/statistics/clamp.h"
#include "store/run/batch.h"

#define SAME_COUNT 0.1 /* numbers of batches differ by at most this share if loaders share steps */

struct member {
	size_t loader; /* index in the query's list of loaders */
	int64_t life_ns;
	struct batch_series series;
	struct finding finding;
};

/* the loaders of one thread, the judged one first */
struct thread {
	size_t count;
	struct member *list;
};

/* Returns false if waits are unknown, such as in a table that has only steps. */
static bool is_known(const struct finding *finding)
{
	return !isnan(finding->own.ratio);
}

/* Returns true if iterators were made, but no batches taken: perhaps by another thread. */
static bool is_only_made(const struct batch_series *series)
{
	return !series->count && series->epoch_count;
}

static bool is_waited_for(const struct batch_series *series)
{
	return is_only_made(series) || (series->count && series->wait_ns);
}

/* Returns true if one thread takes from both loaders. An execve() starts no new main thread. */
static bool is_same_thread(const struct loader_info *one, const struct loader_info *other)
{
	return one->life_ns == other->life_ns
		       ? one->tid == other->tid
		       : (one->tid == one->pid) == (other->tid == other->pid);
}

static bool is_of_thread(const struct loader_info *loader, const struct loader_info *judged)
{
	return loader == judged ||
	       (!loader->nested && !judged->nested && loader->pid == judged->pid &&
		is_same_thread(loader, judged));
}

/* Returns true if only the judged loader is looked at. */
static bool is_alone(const struct thread_query *query)
{
	return query->is_chosen || query->filter.epoch >= 0 || query->filter.first >= 0 ||
	       query->filter.last >= 0;
}

static int read_one(struct db *db, const struct thread_query *query, size_t which,
		    struct member *ret)
{
	struct batch_filter filter = query->filter;
	int r;

	ret->loader = which;
	ret->life_ns = query->loaders[which].life_ns;
	filter.loader_id = query->loaders[which].loader_id;
	series_init(&ret->series);
	r = query_series(db, &filter, &ret->series);
	ret->series.lost_count = clamp_add(ret->series.lost_count, query->missing_count);
	if (r == 0)
		stall_judge(&ret->series, &ret->finding);
	return r;
}

static int read_all(struct db *db, const struct thread_query *query, size_t judged,
		    struct thread *ret)
{
	size_t room = query->loader_count, i;
	int r;

	*ret = (struct thread){.list = calloc(room, sizeof(*ret->list))};
	if (!ret->list)
		return -ENOMEM;
	ret->count = 1;
	r = read_one(db, query, judged, &ret->list[0]);
	if (is_alone(query))
		return r;
	for (i = 0; r == 0 && i < room; i++) {
		if (i == judged || !is_of_thread(&query->loaders[i], &query->loaders[judged]))
			continue;
		r = read_one(db, query, i, &ret->list[ret->count]);
		if (r == 0 && !is_waited_for(&ret->list[ret->count].series))
			series_done(&ret->list[ret->count].series);
		else
			ret->count++;
	}
	return r;
}

static bool has_span(const struct batch_series *series, const struct finding *finding)
{
	return !series->is_part && series->epoch_count && series->first_ns != UNKNOWN &&
	       !finding->missing_count;
}

static int by_life(const void *a, const void *b)
{
	const struct member *const *one = a, *const *other = b;

	return ((*one)->life_ns > (*other)->life_ns) - ((*one)->life_ns < (*other)->life_ns);
}

/* Makes a thread's account. After each execve(), the time up to the first batch is start-up. */
static int account_of_lives(const struct thread *thread, const struct member **members,
			    struct account *ret)
{
	const bool by_gpu = thread->list[0].finding.by_gpu;
	int64_t whole_ns = 0;
	size_t i, end;

	for (size_t begin = 0; begin < thread->count; begin = end) {
		struct account_span span = {INT64_MAX, 0};

		for (end = begin;
		     end < thread->count && members[end]->life_ns == members[begin]->life_ns;
		     end++) {
			const struct batch_series *s = &members[end]->series;

			if (is_only_made(s))
				continue;
			if (!has_span(s, &members[end]->finding))
				return -ERANGE;
			if (s->first_ns < span.begin_ns)
				span.begin_ns = s->first_ns;
			if (s->last_ns > span.end_ns)
				span.end_ns = s->last_ns;
		}
		/* A time between two execve() in which no step was observed adds nothing. */
		if (span.end_ns < span.begin_ns)
			continue;
		for (i = begin; i < end; i++)
			account_add(ret, &members[i]->series, by_gpu, members[i]->finding.theta_ns,
				    &span);
		whole_ns = clamp_add(whole_ns, span.end_ns - span.begin_ns);
		ret->life_count++;
	}
	return account_close(ret, &(struct account_span){0, whole_ns});
}

static int account_of_thread(const struct thread *thread, struct account *ret)
{
	const struct member **members = calloc(thread->count, sizeof(*members));
	int r;

	*ret = ACCOUNT_EMPTY;
	if (!members)
		return -ENOMEM;
	for (size_t i = 0; i < thread->count; i++)
		members[i] = &thread->list[i];
	qsort(members, thread->count, sizeof(*members), by_life);
	r = account_of_lives(thread, members, ret);
	free(members);
	return r;
}

static void put_first(struct thread *thread)
{
	double wait_ns = 0;
	size_t i, most = 0;

	for (i = 0; i < thread->count; i++) {
		if (!is_known(&thread->list[i].finding))
			continue;
		wait_ns += thread->list[i].finding.own.wait_ns;
		if (thread->list[i].finding.own.wait_ns > thread->list[most].finding.own.wait_ns)
			most = i;
	}
	if (most && thread->list[most].finding.own.wait_ns > wait_ns / 2) {
		struct member first = thread->list[0];

		thread->list[0] = thread->list[most];
		thread->list[most] = first;
	}
}

/* Returns true if each step takes a batch of both loaders, so that both loops have all steps. */
static bool are_of_same_steps(const struct member *one, const struct member *other)
{
	const double steps_ns = one->finding.compute_all_ns + other->finding.compute_all_ns;

	return fabs((double)other->series.count / (double)one->series.count - 1) <= SAME_COUNT &&
	       steps_ns > STEP_OVERLAP * one->finding.account.step_ns;
}

static void bound_by_others(struct thread *thread)
{
	struct batch_series *s = &thread->list[0].series;

	for (size_t i = 1; i < thread->count; i++) {
		const struct batch_series *other = &thread->list[i].series;
		const double load_ns = thread->list[i].finding.load_mean_ns;

		if (other->workers > 0 && load_ns > 0 &&
		    are_of_same_steps(&thread->list[0], &thread->list[i]))
			s->others_per_s = fmin(s->others_per_s,
					       1e9 * other->workers / load_ns *
						       (double)s->count / (double)other->count);
	}
}

static int judge_thread(struct thread *thread)
{
	double variance = 0, error_ns;
	struct account account;
	int r;

	if (!is_known(&thread->list[0].finding))
		return 0;
	put_first(thread);
	if (account_of_thread(thread, &account) < 0)
		return 0;
	for (size_t i = 1; i < thread->count; i++) {
		if (!is_known(&thread->list[i].finding))
			continue;
		r = boot_wait_error(&thread->list[i].series, &thread->list[i].finding, &error_ns);
		if (r < 0)
			return r;
		variance += error_ns * error_ns;
	}
	stall_judge_thread(&thread->list[0].series, &account, sqrt(variance),
			   &thread->list[0].finding);
	bound_by_others(thread);
	return 0;
}

/* By the GPU's clock, steps contain waits, so only the judged loader's batches count. */
static int divide_steps(struct db *db, const struct thread_query *query, size_t judged,
			const struct finding *finding, struct step_parts *ret)
{
	const bool is_part = finding->by_gpu || is_alone(query);
	struct batch_filter filter = query->filter;
	struct step_sums sums;

	*ret = (struct step_parts){0};
	for (size_t i = 0; i < query->loader_count; i++) {
		int r;

		if (i != judged &&
		    (is_part || !is_of_thread(&query->loaders[i], &query->loaders[judged])))
			continue;
		filter.loader_id = query->loaders[i].loader_id;
		r = batch_parts(db, &filter, &sums);
		if (r < 0)
			return r;
		if (is_part)
			sums.save_ns = 0;
		step_parts_add(ret, &sums);
	}
	step_parts_close(ret, is_part ? finding->compute_all_ns : finding->account.step_ns);
	return 0;
}

int thread_judge(struct db *db, const struct thread_query *query, size_t *judged,
		 struct batch_series *series, struct finding *finding, struct step_parts *parts)
{
	struct thread thread;
	int r = read_all(db, query, *judged, &thread);

	if (r == 0 && !query->is_chosen)
		r = judge_thread(&thread);
	if (r == 0) {
		series_done(series);
		*series = thread.list[0].series;
		*finding = thread.list[0].finding;
		*judged = thread.list[0].loader;
		series_init(&thread.list[0].series);
		r = divide_steps(db, query, *judged, finding, parts);
	}
	for (size_t i = 0; i < thread.count; i++)
		series_done(&thread.list[i].series);
	free(thread.list);
	return r;
}
