/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_batches.c - `dlprof-report batches RUN`: prints every batch, of one loader or of all. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/account/stall.h"
#include "render/run/batches.h"
#include "report/cmd.h"
#include "report/ranks.h"
#include "store/database/redact.h"

struct stream {
	struct batches batches;
	struct output *output;
	int64_t start_ns;
	int64_t workers;
	int64_t theta_ns;
	int64_t row_count;
};

static int64_t since(int64_t ns, int64_t start_ns)
{
	int64_t difference;

	if (ns == UNKNOWN || start_ns == UNKNOWN ||
	    __builtin_sub_overflow(ns, start_ns, &difference))
		return UNKNOWN;
	return difference;
}

static int add_row(const struct batch_record *batch, void *context)
{
	struct stream *stream = context;
	struct batch_line line = {.batch = *batch, .starved = UNKNOWN};
	int ready = batch->head_ready == UNKNOWN ? -1 : batch->head_ready > 0;
	int64_t wait_ns = batch->wait_ns;

	line.begin_ns = since(batch->begin_ns, stream->start_ns);
	line.excluded =
		stall_excluded(stream->workers, batch->batch, batch->wait_ns, batch->compute_ns);
	if (batch->gpu_idle_wait_ns != UNKNOWN && batch->gpu_idle_wait_ns < wait_ns)
		wait_ns = batch->gpu_idle_wait_ns;
	if (!line.excluded && stream->theta_ns != UNKNOWN)
		line.starved = stall_is_starved(wait_ns, ready, (double)stream->theta_ns);
	batches_add(&stream->batches, &line);
	stream->row_count++;
	/* The disk may be full, or the terminal closed. */
	return ferror(stream->output->file) ? -EPIPE : 0;
}

/* Finds the shortest wait that starves, from all of the loader's batches, shown or not. */
static int set_theta(struct db *db, int64_t loader_id, struct stream *stream)
{
	const struct batch_filter all = batch_filter_all(loader_id);
	struct batch_series series;
	int r;

	series_init(&series);
	r = query_series(db, &all, &series);
	if (r == 0) {
		stream->workers = series.workers;
		stream->theta_ns = stall_theta_ns(&series);
	}
	series_done(&series);
	return r;
}

static int add_loader(const struct options *options, struct db *db, int64_t loader_id,
		      struct stream *stream)
{
	const struct batch_filter filter = cmd_filter(options, loader_id);
	int r = set_theta(db, loader_id, stream);

	return r < 0 ? r : batch_each(db, &filter, add_row, stream);
}

static bool is_part_empty(const struct options *options, const struct loader_info *loaders,
			  size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (loaders[i].batch_count > 0 &&
		    (options->loader < 0 || options->loader == loaders[i].loader_id))
			return cmd_check_part(options, &loaders[i]) != 0;
	return false;
}

static int show(const struct options *options, struct db *db, int64_t start_ns,
		const struct loader_info *loaders, size_t count)
{
	struct stream stream = {.start_ns = start_ns};
	struct output output;
	struct page page;
	int r = 0, status;

	status = cmd_open_output(options, &output);
	if (status)
		return status;
	stream.output = &output;
	page = cmd_page(options, &output);
	batches_begin(&stream.batches,
		      options->json  ? BATCHES_JSON
		      : options->csv ? BATCHES_CSV
				     : BATCHES_TEXT,
		      &page, redact(REDACT_RUN, options->run));
	for (size_t i = 0; r == 0 && i < count; i++)
		if (options->loader < 0 || options->loader == loaders[i].loader_id)
			r = add_loader(options, db, loaders[i].loader_id, &stream);
	batches_end(&stream.batches);
	/* If the output failed, cmd_close_output() reports it. */
	if (r < 0 && !ferror(output.file))
		status = cmd_fail_read(options, r);
	else if (!stream.row_count)
		status = is_part_empty(options, loaders, count) ? CMD_ERROR : CMD_CANNOT_SAY;
	return cmd_close_output(&output, status);
}

static int check_and_show(const struct options *options, struct db *db)
{
	struct loader_info *loaders = NULL;
	struct run_info run;
	size_t count = 0;
	int r, status;

	r = query_run(db, &run);
	if (r < 0)
		return cmd_fail_read(options, r);
	r = query_loaders(db, &loaders, &count);
	status =
		r < 0 ? cmd_fail_read(options, r) : cmd_check_filter(options, &run, loaders, count);
	if (!status)
		status = show(options, db, run.start_ns, loaders, count);
	free(loaders);
	run_info_done(&run);
	return status;
}

int cmd_batches(const struct options *options)
{
	struct options one = *options;
	char *path;
	int status = ranks_pick(options, 0, &path);

	one.run = path;
	if (!status)
		status = cmd_on_run(&one, check_and_show);
	free(path);
	return status;
}
