/* SPDX-License-Identifier: Apache-2.0 */
#include "report/thread.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/boot.h"
#include "analysis/clamp.h"

/* The loaders of a thread; the one that is judged comes first. */
struct thread {
	size_t count;
	size_t *loaders; /* their places in the query's list */
	struct batch_series *series;
	struct finding *findings;
};

/* Of steps alone nothing is known but that they passed. */
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
		    struct batch_series *series, struct finding *finding)
{
	struct batch_filter filter = query->filter;
	int r;

	filter.loader_id = query->loaders[which].loader_id;
	series_init(series);
	r = query_series(db, &filter, series);
	series->lost_count = clamp_add(series->lost_count, query->missing_count);
	if (r == 0)
		stall_judge(series, finding);
	return r;
}

static void done(struct thread *thread)
{
	for (size_t i = 0; i < thread->count; i++)
		series_done(&thread->series[i]);
	free(thread->loaders);
	free(thread->series);
	free(thread->findings);
}

static int read_all(struct db *db, const struct thread_query *query, size_t judged,
		    struct thread *ret)
{
	size_t room = query->loader_count, i;
	int r;

	*ret = (struct thread){
		.loaders = calloc(room, sizeof(*ret->loaders)),
		.series = calloc(room, sizeof(*ret->series)),
		.findings = calloc(room, sizeof(*ret->findings)),
	};
	if (!ret->loaders || !ret->series || !ret->findings)
		return -ENOMEM;
	ret->count = 1;
	ret->loaders[0] = judged;
	r = read_one(db, query, judged, &ret->series[0], &ret->findings[0]);
	if (query->is_chosen || query->filter.epoch >= 0 || query->filter.first >= 0 ||
	    query->filter.last >= 0)
		return r;
	for (i = 0; r == 0 && i < room; i++) {
		if (i == judged || !is_of_thread(&query->loaders[i], &query->loaders[judged]))
			continue;
		ret->loaders[ret->count] = i;
		r = read_one(db, query, i, &ret->series[ret->count], &ret->findings[ret->count]);
		if (r == 0 && !is_known(&ret->findings[ret->count]))
			series_done(&ret->series[ret->count]);
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
	bool by_gpu = thread->findings[0].by_gpu;
	size_t i;

	*ret = (struct account){.startup_ns = NAN};
	for (i = 0; i < thread->count; i++) {
		const struct batch_series *s = &thread->series[i];

		if (!has_span(s, &thread->findings[i]))
			return -ERANGE;
		if (s->first_ns < span.begin_ns)
			span.begin_ns = s->first_ns;
		if (s->last_ns > span.end_ns)
			span.end_ns = s->last_ns;
	}
	for (i = 0; i < thread->count; i++)
		account_add(ret, &thread->series[i], by_gpu, thread->findings[i].theta_ns, &span);
	return account_close(ret, &span);
}

/* Puts the loader first that more than half of the waits are for. */
static void put_first(struct thread *thread)
{
	double wait_ns = 0;
	size_t i, most = 0;

	for (i = 0; i < thread->count; i++) {
		wait_ns += thread->findings[i].own.wait_ns;
		if (thread->findings[i].own.wait_ns > thread->findings[most].own.wait_ns)
			most = i;
	}
	if (most && thread->findings[most].own.wait_ns > wait_ns / 2) {
		struct batch_series series = thread->series[0];
		struct finding finding = thread->findings[0];
		size_t loader = thread->loaders[0];

		thread->series[0] = thread->series[most];
		thread->findings[0] = thread->findings[most];
		thread->loaders[0] = thread->loaders[most];
		thread->series[most] = series;
		thread->findings[most] = finding;
		thread->loaders[most] = loader;
	}
}

static int judge_thread(struct thread *thread)
{
	double variance = 0, error_ns;
	struct account account;
	size_t i;
	int r;

	if (!is_known(&thread->findings[0]))
		return 0;
	put_first(thread);
	if (account_of_thread(thread, &account) < 0)
		return 0;
	for (i = 1; i < thread->count; i++) {
		r = boot_wait_error(&thread->series[i], &thread->findings[i], &error_ns);
		if (r < 0)
			return r;
		variance += error_ns * error_ns;
	}
	stall_judge_thread(&thread->series[0], &account, sqrt(variance), &thread->findings[0]);
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
		*series = thread.series[0];
		*finding = thread.findings[0];
		*judged = thread.loaders[0];
		series_init(&thread.series[0]);
	}
	done(&thread);
	return r;
}
