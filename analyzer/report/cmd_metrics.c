/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_metrics.c - `dlprof-report metrics RUN|FOLDER`: what DLPROF_METRICS_DIR shows of a run while
 * it records, of stored ones, by the report's account.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dlprof/units.h"
#include "drain/home.h"
#include "drain/metrics.h"
#include "report/judge.h"
#include "report/ranks.h"
#include "store/batch.h"
#include "store/db_open.h"
#include "store/meta.h"

struct ranks_metrics {
	struct metrics *list;
	size_t count;
};

static double seconds(int64_t ns)
{
	return (double)ns / NS_PER_S;
}

/* A moment of the run on the wall clock. */
static double unix_s(const struct run_info *run, int64_t ns)
{
	if (ns == QUERY_UNKNOWN || run->start_ns == QUERY_UNKNOWN ||
	    run->start_unix_ns == QUERY_UNKNOWN)
		return NAN;
	return seconds(run->start_unix_ns) + ((double)ns - (double)run->start_ns) / NS_PER_S;
}

static void take_account(const struct account *account, struct metrics *ret)
{
	double unknown_ns = account->wait_ns;

	if (isnan(account->ratio))
		return;
	for (enum account_part part = 0; part < ACCOUNT_PART_MAX; part++) {
		if (isnan(account->part_ns[part]))
			continue;
		ret->value[metric_of_part(part)] = account->part_ns[part] / NS_PER_S;
		unknown_ns -= account->part_ns[part];
	}
	/* Rounding leaves some of it. */
	ret->value[METRIC_WAIT_UNKNOWN] = unknown_ns > 1 ? unknown_ns / NS_PER_S : 0;
	ret->value[METRIC_COMPUTE] = account->step_ns / NS_PER_S;
}

static void add_known(double *sum, int64_t value)
{
	if (value != QUERY_UNKNOWN)
		*sum = (isnan(*sum) ? 0 : *sum) + (double)value;
}

/* A loader's newest batch, if it is newer than other loaders'. */
static int take_newest(const struct batch_record *batch, void *context)
{
	struct metrics *metrics = context;
	double out_ns = query_known(batch->begin_ns) + query_known(batch->wait_ns);

	if (isnan(out_ns) || out_ns <= metrics->value[METRIC_LAST_BATCH])
		return 0;
	metrics->value[METRIC_LAST_BATCH] = out_ns;
	metrics->value[METRIC_QUEUE] = query_known(batch->qdepth);
	return 0;
}

/* The report has those of the loader that it judges. */
static int add_starved(struct db *db, const struct report *report, int64_t loader_id,
		       struct metrics *ret)
{
	struct batch_filter filter = report->filter;
	struct batch_series series;
	struct finding finding;
	int r;

	filter.loader_id = loader_id;
	series_init(&series);
	r = query_series(db, &filter, &series);
	if (r == 0) {
		stall_judge(&series, &finding);
		ret->value[METRIC_STARVED] += (double)finding.starved_count;
	}
	series_done(&series);
	return r;
}

/* Sums over all loaders whose waits are no part of another's. */
static int take_loaders(struct db *db, const struct report *report, struct metrics *ret)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < report->loader_count; i++) {
		const struct loader_info *loader = &report->loaders[i];
		const struct batch_filter all = {loader->loader_id, -1, -1, -1};
		struct load_totals totals;

		if (loader->nested)
			continue;
		r = batch_totals(db, &all, &totals);
		if (r == 0)
			r = batch_newest(db, loader->loader_id, 1, take_newest, ret);
		if (r == 0 && loader != report->loader)
			r = add_starved(db, report, loader->loader_id, ret);
		if (r < 0)
			break;
		add_known(&ret->value[METRIC_BATCHES], loader->batch_count);
		add_known(&ret->value[METRIC_LOAD], totals.load_ns);
		add_known(&ret->value[METRIC_READ], totals.read_bytes);
		add_known(&ret->value[METRIC_STORAGE], totals.storage_bytes);
	}
	ret->value[METRIC_LOAD] /= NS_PER_S;
	return r;
}

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

static int take(const struct report *report, const char *path, struct metrics *ret)
{
	const struct run_info *run = &report->run;
	const struct meta_field local_rank = {META_LOCAL_RANK, 0};
	struct db *db;
	int r = home_open_read(path, &db);

	if (r < 0)
		return r;
	*ret = (struct metrics){
		.job_id = copy(run->job_id ? run->job_id : run->id),
		.version = copy(run->version),
		.clock = report->finding.by_gpu ? "gpu" : "host",
		.rank = run->rank,
	};
	for (enum metric metric = 0; metric < METRIC_MAX; metric++)
		ret->value[metric] = NAN;
	ret->value[METRIC_LAST_BATCH] = 0;
	ret->value[METRIC_STARVED] = (double)report->finding.starved_count;
	r = meta_read(db, &ret->local_rank, &local_rank, 1);
	if (r == 0)
		r = take_loaders(db, report, ret);
	db_close(db);
	take_account(&report->finding.account, ret);
	ret->value[METRIC_LOST] = (double)run->lost_count;
	ret->value[METRIC_LAST_BATCH] =
		ret->value[METRIC_LAST_BATCH] > 0
			? unix_s(run, (int64_t)ret->value[METRIC_LAST_BATCH])
			: NAN;
	ret->value[METRIC_UPDATED] = report->live ? (double)time(NULL) : unix_s(run, run->end_ns);
	ret->value[METRIC_INFO] = 1;
	return r;
}

static int read_rank(const struct options *options, const char *path, struct metrics *ret)
{
	struct report report;
	int status = judge_run(options, path, false, &report), r;

	r = status ? 0 : take(&report, path, ret);
	judge_done(&report);
	return r < 0 ? cmd_fail("cannot read '%s': %s", path, db_error(r)) : status;
}

static int put(const struct options *options, const void *what, const struct page *page)
{
	const struct ranks_metrics *ranks = what;

	metrics_put(page->out, ranks->list, ranks->count);
	return 0;
}

int cmd_metrics(const struct options *options)
{
	struct rank_files files;
	struct ranks_metrics ranks = {NULL, 0};
	int status = ranks_list(options, &files);

	if (!status)
		ranks.list = calloc(files.count, sizeof(*ranks.list));
	if (!status && !ranks.list)
		status = cmd_fail("%s", db_error(-ENOMEM));
	for (size_t i = 0; !status && i < files.count; i++, ranks.count++)
		status = read_rank(options, files.files[i].path, &ranks.list[i]);
	if (!status)
		status = cmd_show(options, put, &ranks, CMD_DONE);
	for (size_t i = 0; i < ranks.count; i++) {
		free((void *)(uintptr_t)ranks.list[i].job_id);
		free((void *)(uintptr_t)ranks.list[i].version);
	}
	free(ranks.list);
	ranks_done(&files);
	return status;
}
