/* SPDX-License-Identifier: Apache-2.0 */
#include "report/thread.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/boot.h"
#include "analysis/clamp.h"

/* A loader of a thread. */
struct member {
	size_t loader; /* its place in the query's list */
	struct batch_series series;
	struct finding finding;
};

/* The one that is judged comes first. */
struct thread {
	size_t count;
	struct member *list;
};

/* A loader with nothing but steps has no account. */
static bool is_known(const struct finding *finding)
{
	return !isnan(finding->own.ratio);
}

static bool is_of_thread(const struct loader_info *loader, const struct loader_info *judged)
{
	return loader == judged || (!loader->nested && !judged->nested &&
				    loader->pid == judged->pid && loader->tid == judged->tid &&
				    loader->batch_count > 0);
}

static int read_one(struct db *db, const struct thread_query *query, size_t which,
		    struct member *ret)
{
	struct batch_filter filter = query->filter;
	int r;

	ret->loader = which;
	filter.loader_id = query->loaders[which].loader_id;
	series_init(&ret->series);
	r = query_series(db, &filter, &ret->series);
	ret->series.lost_count = clamp_add(ret->series.lost_count, query->missing_count);
	if (r == 0)
		stall_judge(&ret->series, &ret->finding);
	return r;
}

static void done(struct thread *thread)
{
	for (size_t i = 0; i < thread->count; i++)
		series_done(&thread->list[i].series);
	free(thread->list);
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
	if (query->is_chosen || query->filter.epoch >= 0 || query->filter.first >= 0 ||
	    query->filter.last >= 0)
		return r;
	for (i = 0; r == 0 && i < room; i++) {
		if (i == judged || !is_of_thread(&query->loaders[i], &query->loaders[judged]))
			continue;
		r = read_one(db, query, i, &ret->list[ret->count]);
		if (r == 0 && !is_known(&ret->list[ret->count].finding))
			series_done(&ret->list[ret->count].series);
		else
			ret->count++;
	}
	return r;
}

/* Imported tables have no clock times, and the time between lost batches is not known. */
static bool has_span(const struct batch_series *series, const struct finding *finding)
{
	return !series->is_part && series->epoch_count && series->first_ns != SERIES_UNKNOWN &&
	       series->last_ns != SERIES_UNKNOWN && !finding->missing_count;
}

static int account_of_thread(const struct thread *thread, struct account *ret)
{
	struct account_span span = {INT64_MAX, 0};
	bool by_gpu = thread->list[0].finding.by_gpu;

	*ret = (struct account){.startup_ns = NAN};
	for (size_t i = 0; i < thread->count; i++) {
		const struct batch_series *s = &thread->list[i].series;

		if (!has_span(s, &thread->list[i].finding))
			return -ERANGE;
		if (s->first_ns < span.begin_ns)
			span.begin_ns = s->first_ns;
		if (s->last_ns > span.end_ns)
			span.end_ns = s->last_ns;
	}
	for (size_t i = 0; i < thread->count; i++)
		account_add(ret, &thread->list[i].series, by_gpu, thread->list[i].finding.theta_ns,
			    &span);
	return account_close(ret, &span);
}

/* Puts the loader first that has more than half of the waits. */
static void put_first(struct thread *thread)
{
	double wait_ns = 0;
	size_t i, most = 0;

	for (i = 0; i < thread->count; i++) {
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
		r = boot_wait_error(&thread->list[i].series, &thread->list[i].finding, &error_ns);
		if (r < 0)
			return r;
		variance += error_ns * error_ns;
	}
	stall_judge_thread(&thread->list[0].series, &account, sqrt(variance),
			   &thread->list[0].finding);
	return 0;
}

int thread_judge(struct db *db, const struct thread_query *query, size_t *judged,
		 struct batch_series *series, struct finding *finding)
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
	}
	done(&thread);
	return r;
}
