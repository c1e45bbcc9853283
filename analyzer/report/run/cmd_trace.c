/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_trace.c - `dlprof-report trace RUN... -o trace.json`: writes runs, or parts, for Perfetto. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "trace_part_sql.h"
#include "trace_sql.h"

#include "analysis/statistics/clamp.h"
#include "render/run/trace.h"
#include "report/ranks.h"
#include "store/database/db_open.h"

#define HEAVY_BYTES 200000000 /* browsers are slow with larger files */
#define RENEW_COUNT 100000

struct stream {
	struct tracer trace;
	struct output *output;
	struct db *db;
	size_t run_count, event_count;
	bool has_batches;
};

static int add_event(const struct timeline_event *event, void *context)
{
	struct stream *stream = context;

	trace_event(&stream->trace, event);
	/* Writing counts in the limit of CPU time for reading, so the limit begins anew. */
	if (!(++stream->event_count % RENEW_COUNT))
		db_limit_renew(stream->db);
	return ferror(stream->output->file) ? -EPIPE : 0;
}

static int add_events(const struct options *options, struct db *db,
		      const struct loader_info *loaders, size_t count, struct stream *stream)
{
	bool is_whole = options->worst <= 0 && options->epoch < 0 && options->first < 0 &&
			options->last < 0 && options->loader < 0;
	int r = timeline_begin(db);

	stream->db = db;
	for (size_t i = 0; r >= 0 && i < count; i++) {
		const struct batch_filter filter = cmd_filter(options, loaders[i].loader_id);
		const struct timeline_worst worst = {
			.worst = options->worst > 0 ? options->worst : -1,
			.before = loaders[i].workers > 0
					  ? clamp_add(loaders[i].workers, loaders[i].workers)
					  : 4,
			.behind = 2};

		if (options->loader < 0 || options->loader == loaders[i].loader_id)
			r = timeline_add_part(db, trace_part_sql, &filter, &worst);
		stream->has_batches |= r > 0;
	}
	return r < 0 ? r : timeline_events(db, trace_sql, is_whole, add_event, stream);
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

/* Returns time 0 of the trace: the first rank's start; without wall clocks, this rank's. */
static int64_t find_base(const struct rank_files *files, const struct rank_file *file)
{
	int64_t first_ns = INT64_MAX, later_ns;

	for (size_t i = 0; i < files->count; i++)
		if (has_wall_clock(&files->files[i]) && files->files[i].start_unix_ns < first_ns)
			first_ns = files->files[i].start_unix_ns;
	if (file->start_ns == UNKNOWN)
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
		r = add_events(&one, db, loaders, count, stream);
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
	struct stream stream = {.run_count = 0};
	struct output output;
	int status = cmd_open_output(options, &output);

	if (status)
		return status;
	stream.output = &output;
	status = add_runs(options, files, &stream);
	if (!status && !stream.has_batches)
		status = CMD_CANNOT_SAY;
	if (stream.run_count)
		remark(options, &stream);
	return cmd_close_output(&output, status);
}

int cmd_trace(const struct options *options)
{
	struct rank_files files;
	int status = ranks_list(options, &files);

	if (!status && ranks_are_meant(options) && !ranks_find(options, &files))
		status = CMD_ERROR;
	if (!status)
		status = show(options, &files);
	ranks_done(&files);
	return status;
}
