/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_trace.c - `dlprof-report trace RUN... -o trace.json`: the ranks, or parts, for Perfetto. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/statistics/clamp.h"
#include "render/run/trace.h"
#include "report/ranks.h"
#include "store/database/db_open.h"

#define HEAVY_BYTES 200000000 /* more than browsers like */
#define AFTER       2         /* batches shown behind one of the worst */

/* A range of batches, by their place among those that the options select, and their time. */
struct window {
	int64_t first, last;
	int64_t from_ns, to_ns;
};

struct windows {
	struct window *list;
	size_t count, capacity;
};

struct worst {
	struct {
		int64_t place, wait_ns;
	} * list;
	size_t count, most;
	int64_t place;
};

struct stream {
	struct tracer trace;
	struct output *output;
	struct windows windows; /* of the loader that goes by */
	struct windows shown;   /* of all, in time; none: everything is shown */
	size_t window;
	int64_t place, row_count;
	size_t run_count;
};

static int add_window(struct windows *windows, const struct window *window)
{
	if (windows->count == windows->capacity) {
		size_t capacity = windows->capacity ? 2 * windows->capacity : 16;
		struct window *list = reallocarray(windows->list, capacity, sizeof(*list));

		if (!list)
			return -ENOMEM;
		windows->list = list;
		windows->capacity = capacity;
	}
	windows->list[windows->count++] = *window;
	return 0;
}

/* A heap of the longest waits, the shortest of them on top. */
static int take_worst(const struct batch_record *batch, void *context)
{
	struct worst *worst = context;
	int64_t place = worst->place++;
	size_t at = 0, child;

	if (batch->wait_ns < 0)
		return 0;
	if (worst->count < worst->most) {
		at = worst->count++;
		for (; at && worst->list[(at - 1) / 2].wait_ns > batch->wait_ns; at = (at - 1) / 2)
			worst->list[at] = worst->list[(at - 1) / 2];
	} else {
		if (batch->wait_ns <= worst->list[0].wait_ns)
			return 0;
		for (; (child = 2 * at + 1) < worst->count; at = child) {
			if (child + 1 < worst->count &&
			    worst->list[child + 1].wait_ns < worst->list[child].wait_ns)
				child++;
			if (worst->list[child].wait_ns >= batch->wait_ns)
				break;
			worst->list[at] = worst->list[child];
		}
	}
	worst->list[at].place = place;
	worst->list[at].wait_ns = batch->wait_ns;
	return 0;
}

static int by_first(const void *a, const void *b)
{
	const struct window *left = a, *right = b;

	return (left->first > right->first) - (left->first < right->first);
}

/* Around each of the worst: what the workers did before, and how it went on. */
static int find_windows(const struct options *options, struct db *db,
			const struct batch_filter *filter, const struct loader_info *loader,
			struct windows *ret)
{
	int64_t before = loader->workers > 0 ? clamp_add(loader->workers, loader->workers) : 4;
	struct worst worst = {.most = (size_t)options->worst};
	size_t kept = 0;
	int r;

	worst.list = calloc(worst.most, sizeof(*worst.list));
	if (!worst.list)
		return -ENOMEM;
	r = batch_each(db, filter, take_worst, &worst);
	for (size_t i = 0; r == 0 && i < worst.count; i++) {
		int64_t place = worst.list[i].place;
		const struct window window = {.first = place < before ? 0 : place - before,
					      .last = place + AFTER};

		r = add_window(ret, &window);
	}
	free(worst.list);
	if (r < 0 || !ret->count)
		return r;
	qsort(ret->list, ret->count, sizeof(*ret->list), by_first);
	for (size_t i = 1; i < ret->count; i++) {
		if (ret->list[i].first > ret->list[kept].last + 1)
			ret->list[++kept] = ret->list[i];
		else if (ret->list[i].last > ret->list[kept].last)
			ret->list[kept].last = ret->list[i].last;
	}
	ret->count = kept + 1;
	return 0;
}

static void note_time(struct window *window, const struct batch_record *batch)
{
	int64_t from_ns = batch->begin_ns, to_ns = batch->begin_ns;

	if (from_ns == QUERY_UNKNOWN)
		return;
	if (batch->load_begin_ns != QUERY_UNKNOWN && batch->load_begin_ns < from_ns)
		from_ns = batch->load_begin_ns;
	if (batch->wait_ns > 0)
		to_ns = clamp_add(to_ns, batch->wait_ns);
	if (batch->compute_ns > 0)
		to_ns = clamp_add(to_ns, batch->compute_ns);
	if (window->from_ns == QUERY_UNKNOWN || from_ns < window->from_ns)
		window->from_ns = from_ns;
	if (window->to_ns == QUERY_UNKNOWN || to_ns > window->to_ns)
		window->to_ns = to_ns;
}

static int add_batch(const struct batch_record *batch, void *context)
{
	struct stream *stream = context;
	int64_t place = stream->place++;
	struct window *window;

	while (stream->window < stream->windows.count &&
	       stream->windows.list[stream->window].last < place)
		stream->window++;
	if (stream->window == stream->windows.count)
		return 1; /* no more batches of this loader are wanted */
	window = &stream->windows.list[stream->window];
	if (place < window->first)
		return 0;
	note_time(window, batch);
	trace_batch(&stream->trace, batch);
	stream->row_count++;
	return ferror(stream->output->file) ? -EPIPE : 0;
}

static int add_loader(const struct options *options, struct db *db,
		      const struct loader_info *loader, bool part, struct stream *stream)
{
	const struct batch_filter filter = {.loader_id = loader->loader_id,
					    .epoch = options->epoch,
					    .first = options->first,
					    .last = options->last};
	const struct window all = {0, INT64_MAX, QUERY_UNKNOWN, QUERY_UNKNOWN};
	int r;

	stream->place = 0;
	stream->window = stream->windows.count = 0;
	r = options->worst > 0 ? find_windows(options, db, &filter, loader, &stream->windows)
			       : add_window(&stream->windows, &all);
	for (size_t i = 0; i < stream->windows.count; i++)
		stream->windows.list[i].from_ns = stream->windows.list[i].to_ns = QUERY_UNKNOWN;
	if (r == 0)
		r = batch_each(db, &filter, add_batch, stream);
	if (r == 1)
		r = 0;
	for (size_t i = 0; part && r == 0 && i < stream->windows.count; i++)
		r = add_window(&stream->shown, &stream->windows.list[i]);
	return r;
}

static int add_event(const struct timeline_event *event, void *context)
{
	struct stream *stream = context;
	size_t i;

	for (i = 0; i < stream->shown.count; i++)
		if (event->begin_ns >= stream->shown.list[i].from_ns &&
		    event->begin_ns <= stream->shown.list[i].to_ns)
			break;
	if (!stream->shown.count || i < stream->shown.count)
		trace_event(&stream->trace, event);
	return ferror(stream->output->file) ? -EPIPE : 0;
}

static int add_all(const struct options *options, struct db *db, const struct loader_info *loaders,
		   size_t count, struct stream *stream)
{
	bool part = options->worst > 0 || options->epoch >= 0 || options->first >= 0 ||
		    options->last >= 0 || options->loader >= 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++)
		if (options->loader < 0 || options->loader == loaders[i].loader_id)
			r = add_loader(options, db, &loaders[i], part, stream);
	for (int kind = 0; r == 0 && kind < TIMELINE_MAX; kind++)
		r = timeline_events(db, (enum timeline_kind)kind, add_event, stream);
	return r;
}

static void remark(const struct options *options, const struct stream *stream)
{
	long bytes = ftell(stream->output->file);

	if (stream->trace.left_out_count)
		cmd_remark(options, "%" PRId64 " slices overlap others and were left out",
			   stream->trace.left_out_count);
	if (bytes > HEAVY_BYTES)
		cmd_remark(options,
			   "the trace has %ld MB, more than most browsers can open; --worst 50, "
			   "--epoch N or --batches A:B make it smaller",
			   bytes / 1000000);
}

static bool has_wall_clock(const struct rank_file *file)
{
	return file->start_unix_ns >= 0 && file->start_ns >= 0;
}

/*
 * The moment of its own clock that is time 0 of the trace: when the first rank began, by the wall
 * clock, or where that is not known when the run itself did.
 */
static int64_t find_base(const struct rank_files *files, const struct rank_file *file)
{
	int64_t first_ns = INT64_MAX, later_ns;

	for (size_t i = 0; i < files->count; i++)
		if (has_wall_clock(&files->files[i]) && files->files[i].start_unix_ns < first_ns)
			first_ns = files->files[i].start_unix_ns;
	if (file->start_ns == QUERY_UNKNOWN)
		return 0;
	later_ns = has_wall_clock(file) ? file->start_unix_ns - first_ns : 0;
	return file->start_ns - later_ns;
}

static int add_run(const struct options *options, struct stream *stream,
		   const struct rank_files *files, const struct rank_file *file)
{
	struct loader_info *loaders = NULL;
	struct options one = *options;
	struct run_info run = {0};
	struct db *db;
	size_t count;
	struct recovered recovered;
	int status, r;

	one.run = file->path;
	status = cmd_open_run(&one, &db, &recovered);
	if (status)
		return status;
	r = query_run(db, &run);
	if (r == 0)
		r = query_loaders(db, &loaders, &count);
	status = r < 0 ? cmd_fail_read(&one, r) : cmd_check_filter(&one, &run, loaders, count);
	if (!status) {
		if (!stream->run_count++)
			trace_begin(&stream->trace, stream->output->file, &run);
		trace_run(&stream->trace, &run, find_base(files, file));
		stream->shown.count = 0;
		r = add_all(&one, db, loaders, count, stream);
		if (r < 0 && !ferror(stream->output->file))
			status = cmd_fail_read(&one, r);
	}
	free(loaders);
	run_info_done(&run);
	db_close(db);
	return status;
}

static int add_runs(const struct options *options, const struct rank_files *files,
		    struct stream *stream)
{
	int status = 0;

	for (size_t i = 0; !status && i < files->count; i++) {
		const struct rank_file *file = &files->files[i];

		if (options->rank >= 0 && file->rank != options->rank)
			continue;
		status = add_run(options, stream, files, file);
		if (!status && files->count > 1 && options->rank < 0 && !has_wall_clock(file))
			cmd_remark(options,
				   "the start of '%s' is not known: it is drawn as if it began "
				   "with the first run",
				   file->path);
	}
	if (stream->run_count && trace_end(&stream->trace) < 0 && !status)
		status = cmd_fail("%s", db_error(-ENOMEM));
	return status;
}

static int show(const struct options *options, const struct rank_files *files)
{
	struct stream stream = {.row_count = 0};
	struct output output;
	int status = cmd_open_output(options, &output);

	if (status)
		return status;
	stream.output = &output;
	status = add_runs(options, files, &stream);
	if (!status && !stream.row_count)
		status = CMD_CANNOT_SAY;
	if (stream.run_count)
		remark(options, &stream);
	free(stream.windows.list);
	free(stream.shown.list);
	return cmd_close_output(&output, status);
}

int cmd_trace(const struct options *options)
{
	struct rank_files files;
	int status = ranks_list(options, &files);

	if (!status)
		status = ranks_check_output(options, &files);
	if (!status && ranks_are_meant(options) && !ranks_find(options, &files))
		status = CMD_ERROR;
	if (!status)
		status = show(options, &files);
	ranks_done(&files);
	return status;
}
