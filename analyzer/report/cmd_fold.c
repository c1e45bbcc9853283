/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fold.c - `dlprof-report fold FOLDER|PART... [-o N.part]`: the ranks of a job that no one
 * machine should read one by one. Runs become a partial, partials a larger one or the report.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/merge.h"
#include "render/ranks.h"
#include "report/ranks.h"
#include "store/db_open.h"
#include "store/part.h"
#include "store/redact.h"

#define SUFFIX ".part"

struct source {
	char *path; /* of a partial; NULL: of the runs that were named, and all of it is here */
	struct part part;
};

/* One rank of one source. */
struct member {
	int64_t rank;
	size_t source, index;
};

struct fold {
	struct source *sources; /* of one job after the other */
	size_t count;
};

/* The ranks of one job, out of its sources. */
struct merger {
	struct source *sources;
	size_t count;
	struct member *members; /* by rank */
	size_t member_count;
	struct part whole;
};

static const char *part_error(int error)
{
	switch (error) {
	case -EMEDIUMTYPE:
		return "it is no partial of dlprof's";
	case -EPROTO:
		return "it is a partial of another version of dlprof";
	case -ENODATA:
		return "it is cut short; make it again";
	case -EBADMSG:
		return "it is damaged; make it again";
	default:
		return db_error(error);
	}
}

static int fail_part(const char *path, int error)
{
	return cmd_fail("cannot fold '%s': %s", path, part_error(error));
}

static const char *name_of(const struct source *source)
{
	return source->path ? source->path : "the runs";
}

/* A place for one more, all zero; NULL: out of memory. */
static struct source *grow(struct fold *fold)
{
	struct source *grown = reallocarray(fold->sources, fold->count + 1, sizeof(*grown));

	if (!grown)
		return NULL;
	fold->sources = grown;
	grown[fold->count] = (struct source){.path = NULL};
	return &grown[fold->count++];
}

/* Unless --job wants another one's. */
static int add_part(const struct options *options, struct fold *fold, const char *path)
{
	struct source *source = grow(fold);
	const char *job;
	int r;

	if (source)
		source->path = strdup(path);
	if (!source || !source->path)
		return cmd_fail("%s", db_error(-ENOMEM));
	r = part_read(path, &source->part);
	if (r < 0)
		return fail_part(path, r);
	job = part_text(&source->part, source->part.job_id);
	if (options->job && (!job || strcmp(job, options->job) != 0)) {
		part_done(&source->part);
		free(source->path);
		fold->count--;
	}
	return 0;
}

static int is_part_name(const struct dirent *entry)
{
	const size_t length = strlen(entry->d_name), end = strlen(SUFFIX);

	return length > end && entry->d_name[0] != '.' &&
	       strcmp(entry->d_name + length - end, SUFFIX) == 0;
}

/* *ret_found: it holds some. */
static int add_folder(const struct options *options, struct fold *fold, const char *folder,
		      bool *ret_found)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_part_name, alphasort), status = 0;

	*ret_found = count > 0;
	for (int i = 0; i < count; i++) {
		char *path = NULL;

		if (!status && asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
			status = cmd_fail("%s", db_error(-ENOMEM));
		else if (!status)
			status = add_part(options, fold, path);
		free(path);
		free(entries[i]);
	}
	free(entries);
	return status;
}

static int add_texts(struct part *part, struct part_rank *rank, const char *path, const char *host,
		     const char *gpu)
{
	int r = part_add_text(part, path, &rank->path);

	if (r == 0)
		r = part_add_text(part, host, &rank->host);
	return r < 0 ? r : part_add_text(part, gpu, &rank->gpu);
}

static int take_row(struct part *part, size_t i, const struct rank_row *row)
{
	const struct finding *finding = &row->finding;
	struct part_rank *rank = &part->ranks[i];

	*rank = (struct part_rank){
		.rank = row->rank,
		.batch_count = finding->batch_count,
		.steady_count = finding->steady_count,
		.own_count = finding->own.count,
		.stall_ratio = finding->stall_ratio,
		.wait_ns = finding->account.wait_ns,
		.time_ns = finding->account.time_ns,
		.own_time_ns = finding->own.time_ns,
		.period_ns = part->job.period_ns[i],
		.verdict = finding->verdict,
		.by_gpu = finding->by_gpu,
		.live = row->live,
		.alone_share = row->alone_share,
	};
	return add_texts(part, rank, row->path, row->host, row->gpu);
}

static void give_row(const struct part *part, size_t i, struct rank_row *row)
{
	const struct part_rank *rank = &part->ranks[i];
	const char *host = redact(REDACT_HOST, part_text(part, rank->host));
	const char *gpu = part_text(part, rank->gpu);

	*row = (struct rank_row){
		.path = redact(REDACT_RUN, part_text(part, rank->path)),
		.host = host ? strdup(host) : NULL,
		.gpu = gpu ? strdup(gpu) : NULL,
		.rank = rank->rank,
		.live = rank->live,
		.alone_share = rank->alone_share,
		.finding =
			{
				.verdict = (enum stall_verdict)rank->verdict,
				.by_gpu = rank->by_gpu,
				.stall_ratio = rank->stall_ratio,
				.batch_count = rank->batch_count,
				.steady_count = rank->steady_count,
				.account = {.wait_ns = rank->wait_ns, .time_ns = rank->time_ns},
				.own = {.time_ns = rank->own_time_ns, .count = rank->own_count},
			},
	};
}

/* The runs of one job. */
static int add_job(const struct options *options, struct fold *fold, const struct rank_files *files)
{
	const struct rank_file *first = files->files;
	struct source *source = grow(fold);
	struct rank_row *rows = calloc(files->count, sizeof(*rows));
	struct ranks ranks = {.rows = rows, .count = files->count};
	struct part *part;
	int status = 0, r = source && rows ? 0 : -ENOMEM;

	if (source) {
		part = &source->part;
		part->ranks = calloc(files->count, sizeof(*part->ranks));
		part->attempt = first->attempt;
		part->world_size = QUERY_UNKNOWN;
		part->start_unix_ns = first->start_unix_ns;
	}
	if (r == 0)
		r = part->ranks ? part_add_text(part, first->job, &part->job_id) : -ENOMEM;
	if (r == 0)
		status = cmd_read_ranks(options, files, &part->job, rows);
	for (size_t i = 0; !status && r == 0 && i < files->count; i++) {
		if (files->files[i].world_size > part->world_size)
			part->world_size = files->files[i].world_size;
		r = take_row(part, i, &rows[i]);
	}
	cmd_ranks_free(&ranks);
	return r < 0 ? cmd_fail("%s", db_error(r)) : status;
}

static int add_runs(const struct options *options, struct fold *fold)
{
	struct rank_files files;
	int status = ranks_list(options, &files);

	for (size_t begin = 0, end; !status && begin < files.count; begin = end) {
		end = ranks_job_end(&files, begin);
		status = add_job(options, fold,
				 &(struct rank_files){files.files + begin, end - begin});
	}
	ranks_done(&files);
	return status;
}

/* Partials as they are named; all else is runs, or folders of them. */
static int add_words(const struct options *options, struct fold *fold)
{
	struct options runs = *options;
	struct stat status;
	bool is_taken;
	int r = 0;

	runs.runs = calloc((size_t)options->run_count, sizeof(*runs.runs));
	runs.run_count = 0;
	if (!runs.runs)
		return cmd_fail("%s", db_error(-ENOMEM));
	for (int i = 0; !r && i < options->run_count; i++) {
		char *word = options->runs[i];

		is_taken = false;
		if (stat(word, &status) == 0 && S_ISDIR(status.st_mode))
			r = add_folder(options, fold, word, &is_taken);
		else if ((is_taken = part_is(word)))
			r = add_part(options, fold, word);
		if (!is_taken)
			runs.runs[runs.run_count++] = word;
	}
	if (!r && runs.run_count) {
		runs.run = runs.runs[0];
		r = add_runs(&runs, fold);
	}
	free(runs.runs);
	return r;
}

static int by_job(const void *a, const void *b)
{
	const struct part *left = &((const struct source *)a)->part;
	const struct part *right = &((const struct source *)b)->part;
	const char *x = part_text(left, left->job_id), *y = part_text(right, right->job_id);
	int order = x && y ? strcmp(x, y) : (x != NULL) - (y != NULL);

	return order ? order : (left->attempt > right->attempt) - (left->attempt < right->attempt);
}

static int by_rank(const void *a, const void *b)
{
	const struct member *left = a, *right = b;

	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	return left->source < right->source ? -1 : left->source > right->source;
}

/* All ranks in their order, each once. */
static int list_members(struct merger *merger)
{
	size_t count = 0;

	for (size_t i = 0; i < merger->count; i++)
		merger->member_count += merger->sources[i].part.job.rank_count;
	merger->members = calloc(merger->member_count, sizeof(*merger->members));
	if (!merger->members)
		return cmd_fail("%s", db_error(-ENOMEM));
	for (size_t i = 0; i < merger->count; i++)
		for (size_t k = 0; k < merger->sources[i].part.job.rank_count; k++)
			merger->members[count++] =
				(struct member){merger->sources[i].part.ranks[k].rank, i, k};
	qsort(merger->members, count, sizeof(*merger->members), by_rank);
	for (size_t i = 1; i < count; i++) {
		const struct member *one = &merger->members[i - 1], *two = &merger->members[i];

		if (one->rank == two->rank)
			return cmd_fail("cannot fold '%s': rank %" PRId64 " is in '%s', too",
					name_of(&merger->sources[two->source]), two->rank,
					name_of(&merger->sources[one->source]));
	}
	return 0;
}

/* The windows of one source at a time. */
static int add_source(struct merger *merger, size_t i)
{
	struct source *source = &merger->sources[i];
	int32_t *numbers = calloc(source->part.job.rank_count, sizeof(*numbers));
	int r = numbers ? 0 : -ENOMEM;

	for (size_t k = 0; numbers && k < merger->member_count; k++)
		if (merger->members[k].source == i)
			numbers[merger->members[k].index] = (int32_t)k;
	if (r == 0 && source->path)
		r = part_read_windows(source->path, &source->part);
	if (r == 0)
		r = merge_add(&merger->whole.job, &source->part.job, numbers);
	window_done(&source->part.job.by_step);
	window_done(&source->part.job.by_clock);
	free(numbers);
	return r < 0 ? fail_part(name_of(source), r) : 0;
}

/* What is known of the job and of each rank, to the whole. */
static int take_members(struct merger *merger)
{
	const struct part *first = &merger->sources[merger->members[0].source].part;
	struct part *whole = &merger->whole;
	int r = part_add_text(whole, part_text(first, first->job_id), &whole->job_id);

	whole->attempt = first->attempt;
	whole->start_unix_ns = first->start_unix_ns;
	whole->world_size = QUERY_UNKNOWN;
	for (size_t i = 0; i < merger->count; i++)
		if (merger->sources[i].part.world_size > whole->world_size)
			whole->world_size = merger->sources[i].part.world_size;
	for (size_t i = 0; r == 0 && i < merger->member_count; i++) {
		const struct member *member = &merger->members[i];
		const struct part *part = &merger->sources[member->source].part;
		struct part_rank *rank = &whole->ranks[i];

		*rank = part->ranks[member->index];
		r = add_texts(whole, rank, part_text(part, rank->path), part_text(part, rank->host),
			      part_text(part, rank->gpu));
	}
	return r;
}

static int merge(struct merger *merger)
{
	struct part *whole = &merger->whole;
	int status = list_members(merger), r;

	if (status)
		return status;
	whole->ranks = calloc(merger->member_count, sizeof(*whole->ranks));
	whole->job.period_ns = calloc(merger->member_count, sizeof(*whole->job.period_ns));
	r = whole->ranks && whole->job.period_ns ? take_members(merger) : -ENOMEM;
	/* What goes by the first rank must go by it here, too. */
	if (r == 0)
		r = merge_frame(&whole->job, &merger->sources[merger->members[0].source].part.job);
	for (size_t i = 0; r == 0 && i < merger->count; i++)
		r = merge_frame(&whole->job, &merger->sources[i].part.job);
	if (r < 0)
		return cmd_fail("%s", db_error(r));
	merge_settle(&whole->job);
	for (size_t i = 0; !status && i < merger->count; i++)
		status = add_source(merger, i);
	return status;
}

static int write_whole(const struct options *options, const struct part *whole)
{
	struct output output;
	int status = cmd_open_output(options, &output), r;

	if (status)
		return status;
	r = part_write(whole, output.file);
	return cmd_close_output(&output, r < 0 ? cmd_fail("%s", db_error(r)) : CMD_DONE);
}

/* As it is shown; to be freed also after an error. */
static int judge_whole(const struct options *options, struct part *whole, struct ranks *ret)
{
	const size_t count = whole->job.rank_count;
	const char *job = part_text(whole, whole->job_id);
	struct rank_row *rows = calloc(count, sizeof(*rows));
	struct rank_blame *blames = calloc(count, sizeof(*blames));

	*ret = (struct ranks){
		.path = redact(REDACT_RUN, options->run),
		.rows = rows,
		.blames = blames,
		.count = rows ? count : 0,
		.job_id = redact(REDACT_TEXT, job),
		.attempt = whole->attempt,
		.world_size = whole->world_size,
		.start_unix_ns = whole->start_unix_ns,
	};
	if (!rows || !blames)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		give_row(whole, i, &rows[i]);
	return rank_judge(&whole->job, blames, &ret->job);
}

/* One job after the other: to the list, or as a partial. */
static int fold_all(const struct options *options, struct fold *fold, struct part *wholes,
		    struct jobs *jobs)
{
	int status = 0, r;

	for (size_t begin = 0, end; !status && begin < fold->count; begin = end) {
		struct merger merger = {.sources = &fold->sources[begin]};

		for (end = begin + 1;
		     end < fold->count && by_job(&fold->sources[begin], &fold->sources[end]) == 0;)
			end++;
		merger.count = end - begin;
		if (options->output && merger.count < fold->count)
			return cmd_fail("a partial is of one job, and these are of several; --job "
					"ID chooses one");
		status = merge(&merger);
		wholes[jobs->count] = merger.whole;
		free(merger.members);
		r = status ? 0
			   : judge_whole(options, &wholes[jobs->count], &jobs->list[jobs->count]);
		jobs->count++;
		if (r < 0)
			return cmd_fail("%s", db_error(r));
		if (options->output && !status)
			return write_whole(options, &wholes[0]);
		window_done(&wholes[jobs->count - 1].job.by_step);
		window_done(&wholes[jobs->count - 1].job.by_clock);
	}
	return status;
}

static int show(const struct options *options, struct jobs *jobs)
{
	char command[PATH_MAX + 10];
	bool is_known = false;

	/* "More: dlprof-report --job ID fold FOLDER" */
	snprintf(command, sizeof(command), "fold %s", jobs->path);
	if (!options->json && jobs->count > 1)
		jobs->path = command;
	for (size_t i = 0; i < jobs->count; i++)
		is_known |= jobs->list[i].job.verdict != STALL_VERDICT_INCOMPLETE;
	cmd_sort_jobs(jobs);
	return cmd_show(options, cmd_put_jobs, jobs, is_known ? CMD_DONE : CMD_CANNOT_SAY);
}

int cmd_fold(const struct options *options)
{
	struct fold fold = {.sources = NULL};
	struct jobs jobs = {.path = redact(REDACT_RUN, options->run)};
	struct part *wholes = NULL;
	int status = add_words(options, &fold);

	if (!status && !fold.count)
		status = cmd_fail("no partial is of job '%s'", options->job);
	if (!status) {
		qsort(fold.sources, fold.count, sizeof(*fold.sources), by_job);
		wholes = calloc(fold.count, sizeof(*wholes));
		jobs.list = calloc(fold.count, sizeof(*jobs.list));
		status = wholes && jobs.list ? fold_all(options, &fold, wholes, &jobs)
					     : cmd_fail("%s", db_error(-ENOMEM));
	}
	if (!status && !options->output)
		status = show(options, &jobs);
	for (size_t i = 0; i < jobs.count; i++) {
		cmd_ranks_free(&jobs.list[i]);
		part_done(&wholes[i]);
	}
	for (size_t i = 0; i < fold.count; i++) {
		part_done(&fold.sources[i].part);
		free(fold.sources[i].path);
	}
	free(jobs.list);
	free(wholes);
	free(fold.sources);
	return status;
}
