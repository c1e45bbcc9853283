/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_top.c - `dlprof-report top RUN`: the newest batches of a run that still records, again and
 * again. The database is open only while it is read: a reader that stays would keep the drain from
 * leaving one plain file behind, one in a transaction the write-ahead log from starting anew.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drain/drain.h"
#include "drain/home.h"
#include "render/top.h"
#include "report/cmd.h"
#include "report/screen.h"
#include "report/stuck.h"
#include "store/db_open.h"
#include "store/redact.h"

#define WINDOW      1000 /* batches */
#define STRIP       152  /* of them as cells */
#define INTERVAL_MS 2000

struct newest {
	struct batch_record *list;
	size_t count;
};

static int add_batch(const struct batch_record *batch, void *context)
{
	struct newest *newest = context;

	newest->list[newest->count++] = *batch;
	return 0;
}

static int by_delivery(const void *a, const void *b)
{
	const struct batch_record *left = a, *right = b;

	if (left->epoch != right->epoch)
		return left->epoch < right->epoch ? -1 : 1;
	return (left->batch > right->batch) - (left->batch < right->batch);
}

static int32_t small(int64_t value)
{
	return value < 0 || value > INT32_MAX ? -1 : (int32_t)value;
}

static int append(struct batch_series *series, const struct batch_record *batch)
{
	struct batch_row row = BATCH_ROW_UNKNOWN;

	/* What is below 0 becomes no time. */
	row.wait_ns = batch->wait_ns;
	row.compute_ns = batch->compute_ns;
	row.load_ns = batch->load_ns;
	row.gpu_idle_ns = batch->gpu_idle_wait_ns;
	row.handover_ns = query_handover_ns(&row, batch->begin_ns, batch->load_begin_ns);
	query_add_free(&row, batch->free_ns);
	row.sample_ns = batch->sample_ns;
	row.load_cpu_ns = batch->cpu_ns;
	row.epoch = small(batch->epoch);
	row.batch = small(batch->batch);
	row.worker = small(batch->worker_id);
	row.qdepth = small(batch->qdepth);
	row.head_ready = batch->head_ready < 0 ? -1 : batch->head_ready > 0;
	return series_append(series, &row);
}

static void add_load(struct top *top, const struct batch_record *batch)
{
	struct top_worker *worker;

	if (batch->worker_id < 0 || batch->worker_id >= TOP_WORKERS || batch->load_ns < 0)
		return;
	worker = &top->workers[batch->worker_id];
	worker->load_count++;
	worker->load_ns += (double)batch->load_ns;
	worker->last_ns = batch->load_ns;
	if (batch->worker_id >= top->worker_count)
		top->worker_count = batch->worker_id + 1;
}

static void find_rate(const struct newest *newest, struct top *top)
{
	const struct batch_record *first = newest->list, *last = first + newest->count - 1;
	int64_t ns;

	if (first->begin_ns == QUERY_UNKNOWN || last->begin_ns == QUERY_UNKNOWN ||
	    __builtin_sub_overflow(last->begin_ns, first->begin_ns, &ns) || ns <= 0)
		return;
	top->batches_per_s = (double)(newest->count - 1) * 1e9 / (double)ns;
}

static int64_t delivered_ns(const struct batch_record *batch)
{
	int64_t ns;

	return batch->begin_ns < 0 || batch->wait_ns < 0 ||
			       __builtin_add_overflow(batch->begin_ns, batch->wait_ns, &ns)
		       ? SERIES_UNKNOWN
		       : ns;
}

static void find_since(const struct batch_record *last, struct top *top)
{
	int64_t from_ns = delivered_ns(last);
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!top->live || from_ns == SERIES_UNKNOWN)
		return;
	/* The clock of another machine, or of an earlier boot, says nothing here. */
	if (now.tv_sec * 1000000000 + now.tv_nsec >= from_ns)
		top->since_ns = now.tv_sec * 1000000000 + now.tv_nsec - from_ns;
}

static int64_t ended_ns(const struct batch_record *batch)
{
	int64_t ns = delivered_ns(batch), end_ns;

	/* It may still be in its step. */
	return ns != SERIES_UNKNOWN && batch->compute_ns > 0 &&
			       !__builtin_add_overflow(ns, batch->compute_ns, &end_ns)
		       ? end_ns
		       : ns;
}

static int judge(const struct newest *newest, struct top *top)
{
	double queued = 0;
	size_t known = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < newest->count; i++) {
		const struct batch_record *batch = &newest->list[i];

		r = append(&top->series, batch);
		add_load(top, batch);
		if (batch->qdepth < 0)
			continue;
		queued += (double)batch->qdepth;
		top->queue_now = batch->qdepth;
		known++;
	}
	if (r < 0)
		return r;
	if (known)
		top->queue_mean = queued / (double)known;
	top->epoch = newest->list[newest->count - 1].epoch;
	top->batch = newest->list[newest->count - 1].batch;
	top->series.first_ns = delivered_ns(&newest->list[0]);
	top->series.last_ns = ended_ns(&newest->list[newest->count - 1]);
	find_rate(newest, top);
	find_since(&newest->list[newest->count - 1], top);
	top->window = top->series.count;
	stall_judge(&top->series, &top->finding);
	return cause_find_bare(&top->series, &top->finding, NULL, &top->diagnosis);
}

/* The loader that delivered last, and its newest batches. */
static int read_newest(struct db *db, struct newest *newest, struct top *top)
{
	struct timeline_loader loader;
	int64_t first;
	int r = timeline_newest_loader(db, &loader);

	if (r < 1)
		return r;
	top->loader_id = loader.loader_id;
	top->loader_count = loader.count;
	top->series.workers = small(loader.workers);
	top->series.prefetch_factor = small(loader.prefetch_factor);
	top->series.in_order = small(loader.in_order);
	r = batch_newest(db, loader.loader_id, WINDOW, add_batch, newest);
	qsort(newest->list, newest->count, sizeof(*newest->list), by_delivery);
	if (r < 0 || !newest->count)
		return r;
	/* An epoch's start counts only if its first batch does. */
	first = newest->list[0].epoch;
	top->series.is_part = first > 0 || newest->list[0].batch > 0;
	return query_epochs(db, loader.loader_id, first + (newest->list[0].batch > 0), INT32_MAX,
			    &top->series);
}

static int open_run(const struct options *options, struct db **ret_db, bool *ret_live)
{
	struct recovered recovered;
	int r;

	*ret_live = drain_is_live(options->run);
	if (!*ret_live) {
		r = cmd_open_run(options, ret_db, &recovered);
		*ret_live = recovered.live;
		return r;
	}
	r = home_open_read(options->run, ret_db);
	*ret_db = r < 0 ? NULL : *ret_db;
	/* Its first second: there are no tables yet. */
	if (r < 0 && r != -ENODATA && r != -EBADMSG && r != -EMEDIUMTYPE && r != -ENOLINK)
		return cmd_fail("cannot open '%s': %s", options->run, db_error(r));
	return 0;
}

static int find_stuck(struct db *db, struct top *top)
{
	int r = lines_read_frames(db, &top->samples);

	return r < 0 ? r
		     : stuck_read(db, &top->samples, top->loader_id, &top->finding, &top->stuck,
				  &top->stuck_count);
}

/* Everything that a frame shows, from a database that is closed again. 0 or CMD_ERROR. */
static int look(const struct options *options, struct newest *newest, struct run_info *run,
		struct top *top)
{
	struct db *db;
	int status, r;

	newest->count = 0;
	db_limit_anew();
	*top = (struct top){
		.path = redact(REDACT_RUN, options->run),
		.run = run,
		.loader_id = QUERY_UNKNOWN,
		.epoch = QUERY_UNKNOWN,
		.batch = QUERY_UNKNOWN,
		.since_ns = QUERY_UNKNOWN,
		.queue_now = QUERY_UNKNOWN,
		.queue_mean = NAN,
		.batches_per_s = NAN,
	};
	series_init(&top->series);
	stall_judge(&top->series, &top->finding);
	status = open_run(options, &db, &top->live);
	if (status || !db)
		return status;
	r = query_run(db, run);
	if (r == 0) {
		top->series.cores =
			run->cpus > 0 && run->cpus <= INT32_MAX ? (int32_t)run->cpus : -1;
		top->series.synchronous = run->synchronous;
		r = read_newest(db, newest, top);
	}
	if (r == 0 && newest->count)
		r = judge(newest, top);
	if (r == 0 && top->live)
		r = find_stuck(db, top);
	db_close(db);
	return r < 0 ? cmd_fail_read(options, r) : 0;
}

/* Cells of single batches, the newest, not of groups. */
static int keep_newest(struct top *top, const struct newest *newest)
{
	int r = 0;

	if (newest->count <= STRIP)
		return 0;
	series_done(&top->series);
	series_init(&top->series);
	for (size_t i = newest->count - STRIP; r == 0 && i < newest->count; i++)
		r = append(&top->series, &newest->list[i]);
	return r;
}

static int show(const struct options *options, struct top *top, const struct newest *newest,
		struct output *output)
{
	struct page page = cmd_page(options, output);
	int r;

	if (options->json) {
		top_json(top, output->file);
		return 0;
	}
	r = keep_newest(top, newest);
	if (r < 0)
		return r;
	screen_clear();
	return top_text(top, &page);
}

/* One picture. *ret_live: there may be others. */
static int draw(const struct options *options, struct newest *newest, struct output *output,
		bool *ret_live)
{
	struct run_info run = {0};
	struct top top;
	int status = look(options, newest, &run, &top);
	int r = status ? 0 : show(options, &top, newest, output);

	*ret_live = top.live && !status && r == 0;
	series_done(&top.series);
	lines_free(&top.samples);
	free(top.stuck);
	run_info_done(&run);
	if (r < 0)
		status = cmd_fail_read(options, r);
	fflush(output->file);
	return status;
}

static int watch(const struct options *options, struct newest *newest, struct output *output)
{
	int interval_ms = options->interval_ms < 0 ? INTERVAL_MS : (int)options->interval_ms;
	bool is_screen = !options->json && screen_take(output->file), live, quits = false;
	int status;

	do {
		status = draw(options, newest, output, &live);
		if (is_screen && live && !ferror(output->file))
			quits = screen_wait(interval_ms) == SCREEN_QUIT;
	} while (is_screen && live && !quits && !ferror(output->file));
	screen_give_back();
	/* The last picture, or what went wrong, stays on the terminal, unless the user quit. */
	if (is_screen && !quits && !ferror(output->file))
		status = draw(options, newest, output, &live);
	return status ? status : newest->count ? CMD_DONE : CMD_CANNOT_SAY;
}

int cmd_top(const struct options *options)
{
	struct newest newest = {.list = calloc(WINDOW, sizeof(*newest.list))};
	struct options quiet = *options;
	struct output output;
	int status;

	if (!newest.list)
		return cmd_fail("%s", db_error(-ENOMEM));
	status = cmd_open_output(options, &output);
	quiet.quiet = true; /* top needs no remark that the run still records */
	if (!status)
		status = cmd_close_output(&output, watch(&quiet, &newest, &output));
	free(newest.list);
	return status;
}
