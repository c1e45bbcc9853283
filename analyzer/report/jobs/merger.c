/* SPDX-License-Identifier: Apache-2.0 */
#include "report/jobs/merger.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/ranks/merge.h"
#include "report/jobs/sources.h"
#include "store/database/redact.h"

struct member {
	int64_t rank;
	size_t source, index;
};

struct merger {
	struct source *sources;
	size_t count;
	struct member *members; /* sorted by rank */
	size_t member_count;
	struct part *whole;
};

static int by_rank(const void *a, const void *b)
{
	const struct member *left = a, *right = b;

	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	return left->source < right->source ? -1 : left->source > right->source;
}

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
					source_name(&merger->sources[two->source]), two->rank,
					source_name(&merger->sources[one->source]));
	}
	return 0;
}

/* Adds the windows of a source. They are in memory only during this call. */
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
		r = merge_add(&merger->whole->job, &source->part.job, numbers);
	rank_free_windows(&source->part.job);
	free(numbers);
	return r < 0 ? sources_fail(source_name(source), r) : 0;
}

static int take_members(struct merger *merger)
{
	const struct part *first = &merger->sources[merger->members[0].source].part;
	struct part *whole = merger->whole;
	const char *words[PART_WORDS];
	int r;

	for (int i = 0; i < PART_WORDS; i++)
		words[i] = part_word(first, (enum part_word)i);
	r = sources_add_words(whole, words);
	whole->attempt = first->attempt;
	whole->start_unix_ns = first->start_unix_ns;
	whole->world_size = UNKNOWN;
	for (size_t i = 0; i < merger->count; i++)
		if (merger->sources[i].part.world_size > whole->world_size)
			whole->world_size = merger->sources[i].part.world_size;
	for (size_t i = 0; r == 0 && i < merger->member_count; i++) {
		const struct member *member = &merger->members[i];
		const struct part *part = &merger->sources[member->source].part;
		struct part_rank *rank = &whole->ranks[i];

		*rank = part->ranks[member->index];
		r = sources_add_texts(whole, rank, part_text(part, rank->path),
				      part_text(part, rank->host), part_text(part, rank->gpu),
				      part_text(part, rank->ended));
	}
	return r;
}

static int merge(struct merger *merger)
{
	struct part *whole = merger->whole;
	int status = list_members(merger), r;

	if (status)
		return status;
	whole->ranks = calloc(merger->member_count, sizeof(*whole->ranks));
	whole->job.members = calloc(merger->member_count, sizeof(*whole->job.members));
	r = whole->ranks && whole->job.members ? take_members(merger) : -ENOMEM;
	/* Some facts about the job are from the first source, which must have the first rank. */
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

static void give_row(const struct part *part, size_t i, struct rank_row *row)
{
	const struct part_rank *rank = &part->ranks[i];
	const char *host = part_text(part, rank->host);
	const char *gpu = part_text(part, rank->gpu);
	const char *ended = part_text(part, rank->ended);

	*row = (struct rank_row){
		.path = part_text(part, rank->path),
		.host = host ? strdup(host) : NULL,
		.gpu = gpu ? strdup(gpu) : NULL,
		.rank = rank->rank,
		.live = rank->live,
		.is_terminated = rank->is_terminated,
		.alone_share = rank->alone_share,
		.world_size = rank->world_size,
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
	snprintf(row->ended, sizeof(row->ended), "%s", ended ? ended : "");
}

int merger_judge(const struct options *options, struct part *whole, struct ranks *ret)
{
	const size_t count = whole->job.rank_count;
	struct rank_row *rows = calloc(count, sizeof(*rows));
	struct rank_blame *blames = calloc(count, sizeof(*blames));
	int r;

	*ret = (struct ranks){
		.path = redact(REDACT_RUN, options->run),
		.rows = rows,
		.blames = blames,
		.count = rows ? count : 0,
		.job_id = part_word(whole, PART_JOB),
		.attempt = whole->attempt,
		.world_size = whole->world_size,
		.start_unix_ns = whole->start_unix_ns,
	};
	if (!rows || !blames)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		give_row(whole, i, &rows[i]);
	r = rank_judge(&whole->job, blames, &ret->job);
	if (r == 0 && ranks_in_doubt(ret))
		rank_doubt(blames, count, &ret->job);
	return r;
}

static int fold_one(const struct options *options, struct merger *merger, struct merger_job *job)
{
	int status = 0;

	for (size_t i = 0; !status && i < merger->count; i++) {
		status = source_load(options, &merger->sources[i]);
		if (merger->sources[i].path)
			job->partial = merger->sources[i].path;
		else
			job->runs = merger->sources[i].runs;
	}
	if (!status)
		status = merge(merger);
	for (size_t i = 0; i < merger->count; i++)
		part_done(&merger->sources[i].part);
	free(merger->members);
	return status;
}

int merger_jobs(const struct options *options,
		int (*each)(const struct options *options, struct merger_job *job, void *context),
		void *context)
{
	struct sources sources;
	int status = sources_list(options, &sources);
	bool failed = sources.files.failed;

	for (size_t begin = 0, end; !status && begin < sources.count; begin = end) {
		struct merger_job job = {.partial = NULL};
		struct merger merger = {.sources = &sources.list[begin], .whole = &job.whole};

		end = sources_job_end(&sources, begin);
		merger.count = end - begin;
		job.is_only = merger.count == sources.count;
		part_init(&job.whole);
		if (fold_one(options, &merger, &job))
			job.failed = true;
		else
			status = each(options, &job, context);
		failed |= job.failed;
		part_done(&job.whole);
	}
	sources_done(&sources);
	return status || !failed ? status : CMD_ERROR;
}
