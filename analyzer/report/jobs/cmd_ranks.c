/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_ranks.c - `dlprof-report [html] FOLDER`, or several runs: reports on ranks, read one by one.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>

#include "drain/database/home.h"
#include "render/html/html.h"
#include "render/jobs/ranks.h"
#include "render/run/parts.h"
#include "report/ranks.h"
#include "report/run/judge.h"
#include "report/run/thread.h"
#include "store/database/db_open.h"
#include "store/database/redact.h"
#include "store/run/gpu.h"
#include "store/run/query.h"

/* Takes the name of the rank's GPU. Without --redact, this includes its place in the machine. */
static void take_gpu(const struct options *options, struct run_info *run, struct rank_row *row)
{
	char **from = run->gpu_place && !options->redact ? &run->gpu_place : &run->gpu;

	row->gpu = *from;
	*from = NULL;
}

/* Judges a rank as a report on this rank alone would. */
static int judge(const struct options *options, struct db *db, const struct rank_file *file,
		 int64_t *ret_loader_id, struct batch_series *series, struct rank_row *row)
{
	struct thread_query query = {
		.filter = cmd_filter(options, 0),
		.missing_count = file->missing_count,
		.is_chosen = options->loader >= 0,
	};
	struct loader_info *loaders;
	size_t i = 0;
	int r = query_rank_loaders(db, &loaders, &query.loader_count);

	if (r < 0)
		return r;
	query.loaders = loaders;
	while (query.is_chosen && i < query.loader_count &&
	       loaders[i].loader_id != options->loader)
		i++;
	if (i < query.loader_count) {
		r = thread_judge(db, &query, &i, series, &row->finding, &row->step);
		*ret_loader_id = loaders[i].loader_id;
		row->is_dispatched = dialect_is_dispatcher(&loaders[i]);
	} else {
		stall_judge(series, &row->finding);
	}
	free(loaders);
	return r;
}

static int read_collectives(const struct options *options, struct db *db, int64_t loader_id,
			    struct rank_row *row)
{
	const struct batch_filter filter = cmd_filter(options, loader_id);
	struct gpu_sums sums;
	int r = gpu_sums_read(db, &filter, true, &sums);

	row->alone_share = r < 0 ? NAN : (float)gpu_use_of(&sums).alone_share;
	return r;
}

static int read_rank(const struct options *options, struct db *db, struct rank_job *job,
		     const struct rank_file *file, struct rank_row *row, rank_looker *look,
		     void *context)
{
	struct rank_epoch *epochs = NULL;
	struct batch_series series;
	size_t epoch_count = 0;
	int64_t offset_ns, loader_id = -1;
	struct run_info run;
	int r = query_run(db, &run);

	if (r < 0)
		return r;
	series_init(&series);
	row->host = run.host;
	run.host = NULL;
	take_gpu(options, &run, row);
	if (__builtin_sub_overflow(run.start_unix_ns, run.start_ns, &offset_ns) ||
	    run.start_unix_ns < 0 || run.start_ns < 0)
		offset_ns = UNKNOWN;
	r = judge(options, db, file, &loader_id, &series, row);
	if (run.doubt_count > 0)
		stall_doubt(&row->finding);
	if (!ended_workers(&run, row->ended, sizeof(row->ended)))
		ended_program(&run, -1, row->ended, sizeof(row->ended));
	row->is_terminated = ended_signal(run.exit_status) == SIGTERM;
	row->alone_share = NAN;
	if (r == 0 && row->finding.by_gpu)
		r = read_collectives(options, db, loader_id, row);
	if (r == 0 && offset_ns != UNKNOWN)
		r = query_rank_epochs(db, loader_id, offset_ns, &epochs, &epoch_count);
	if (r == 0 && options->verb == VERB_HTML)
		r = bars_of(&series, HTML_RANK_BARS, &row->bars, &row->bar_count);
	if (r == 0)
		r = rank_add(job, &series, &row->finding, epochs, epoch_count);
	if (r == 0 && look)
		r = look(&(struct rank_look){db, &run, row, &series, loader_id}, context);
	free(epochs);
	series_done(&series);
	run_info_done(&run);
	return r;
}

int cmd_read_ranks(const struct options *options, const struct rank_files *files,
		   struct rank_job *job, struct rank_row *rows, rank_looker *look, void *context)
{
	for (size_t i = 0; i < files->count; i++) {
		const struct rank_file *file = &files->files[i];
		struct db *db = file->db;
		int r = 0;

		if (db)
			db_limit_renew(db);
		else
			r = home_open_read(file->path, &db);

		rows[i] = (struct rank_row){
			.path = redact(REDACT_RUN, file->path),
			.rank = file->rank,
			.live = file->live,
			.world_size = file->world_size,
		};
		if (r == 0) {
			r = read_rank(options, db, job, file, &rows[i], look, context);
			if (!file->db)
				db_close(db);
		}
		if (r < 0)
			return cmd_fail("cannot read '%s': %s", file->path, db_error(r));
	}
	return 0;
}

static int put(const struct options *options, const void *what, const struct page *page)
{
	const struct jobs *jobs = what;
	const bool is_one = jobs->count == 1;
	struct outline outline;

	if (options->verb == VERB_HTML)
		return is_one ? html_write_ranks(jobs->list, page->out)
			      : html_write_jobs(jobs->path, jobs->list, jobs->count, page->out);
	if (options->json) {
		if (is_one)
			ranks_json(jobs->list, page->out);
		else
			jobs_json(jobs->path, jobs->list, jobs->count, page->out);
		return 0;
	}
	if (is_one)
		ranks_outline(jobs->list, RANKS_MOST_ROWS, false, &outline);
	else
		jobs_outline(jobs->path, jobs->list, jobs->count, &outline);
	return outline_show(&outline, page, options->markdown);
}

static int by_start(const void *a, const void *b)
{
	const struct ranks *left = a, *right = b;

	return (left->start_unix_ns > right->start_unix_ns) -
	       (left->start_unix_ns < right->start_unix_ns);
}

int cmd_show_jobs(const struct options *options, struct jobs *jobs)
{
	bool is_known = false;

	for (size_t i = 0; i < jobs->count; i++)
		is_known |= stall_is_judged(jobs->list[i].job.verdict);
	qsort(jobs->list, jobs->count, sizeof(*jobs->list), by_start);
	return cmd_show(options, put, jobs, is_known ? CMD_DONE : CMD_CANNOT_SAY);
}

void cmd_ranks_free(struct ranks *ranks)
{
	for (size_t i = 0; ranks->rows && i < ranks->count; i++) {
		free(ranks->rows[i].host);
		free(ranks->rows[i].gpu);
		free(ranks->rows[i].bars);
	}
	free(ranks->rows);
	free(ranks->blames);
}

static int judge_job(const struct options *options, const struct rank_files *files,
		     struct ranks *ret)
{
	struct rank_row *rows = calloc(files->count, sizeof(*rows));
	struct rank_blame *blames = calloc(files->count, sizeof(*blames));
	struct rank_job job = {.rank_count = 0};
	int status = 0;

	*ret = (struct ranks){
		.path = redact(REDACT_RUN, options->run),
		.rows = rows,
		.blames = blames,
		.count = files->count,
		.job_id = files->files->job,
		.attempt = files->files->attempt,
		.world_size = ranks_world_size(files),
		.start_unix_ns = files->files->start_unix_ns,
	};
	if (!rows || !blames)
		status = cmd_fail("%s", db_error(-ENOMEM));
	if (!status)
		status = cmd_read_ranks(options, files, &job, rows, NULL, NULL);
	if (!status && rank_judge(&job, blames, &ret->job) < 0)
		status = cmd_fail("%s", db_error(-ENOMEM));
	if (!status && ranks_in_doubt(ret))
		rank_doubt(blames, ret->count, &ret->job);
	rank_done(&job);
	return status;
}

static int judge_all(const struct options *options, const struct rank_files *files,
		     struct jobs *jobs)
{
	int status = 0;

	for (size_t begin = 0, end; !status && begin < files->count; begin = end) {
		end = ranks_job_end(files, begin);
		status = judge_job(options, &(struct rank_files){files->files + begin, end - begin},
				   &jobs->list[jobs->count++]);
	}
	return status;
}

/* Judges the rank of a job to look at first, as a report on this rank alone would. */
static int judge_worst(const struct options *options, const struct rank_files *files,
		       struct ranks *job, struct report *ret)
{
	struct options own = *options;
	const size_t worst = ranks_worst(job);
	int status;

	if (options->json || !stall_is_judged(job->job.verdict) ||
	    !stall_is_judged(job->rows[worst].finding.verdict))
		return 0;
	own.quiet = true;
	status = judge_run(&own, files->files[worst].path, true, ret);
	job->worst = ret;
	return status;
}

int cmd_ranks(const struct options *options, const struct rank_files *files)
{
	struct jobs jobs = {.path = redact(REDACT_RUN, options->run),
			    .list = calloc(files->count, sizeof(*jobs.list))};
	struct report worst = {0};
	int status;

	if (options->wish_count)
		status = cmd_fail("--what-if replays one run, and there are %zu ranks; --rank N "
				  "chooses one",
				  files->count);
	else if (!jobs.list)
		status = cmd_fail("%s", db_error(-ENOMEM));
	else
		status = judge_all(options, files, &jobs);
	if (!status && jobs.count == 1)
		status = judge_worst(options, files, jobs.list, &worst);
	if (!status)
		status = cmd_show_jobs(options, &jobs);
	judge_done(&worst);
	for (size_t i = 0; i < jobs.count; i++)
		cmd_ranks_free(&jobs.list[i]);
	free(jobs.list);
	return status;
}
