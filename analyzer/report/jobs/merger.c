/* SPDX-License-Identifier: Apache-2.0 */
#include "report/jobs/merger.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/ranks/merge.h"
#include "analysis/statistics/array.h"
#include "report/names.h"
#include "report/run/why.h"
#include "store/database/redact.h"
#include "store/run/batch.h"
#include "store/run/facts.h"
#include "store/run/lines.h"

/* Where ranks of a job come from. */
struct source {
	char *path; /* path of a file made by fold; NULL: the source is `runs` */
	struct rank_files runs;
	char *job; /* NULL: unknown */
	int64_t attempt;
	struct part part; /* empty until load() fills it */
};

struct sources {
	struct source *list; /* sorted by job and attempt */
	size_t count;
	struct rank_files files;
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

static int fail(const char *path, int error)
{
	return cmd_fail("cannot fold '%s': %s", path, part_error(error));
}

static const char *name_of(const struct source *source)
{
	return source->path ? source->path : "the runs";
}

static struct source *grow(struct sources *sources, const char *job, int64_t attempt)
{
	struct source *grown;

	if (!ARRAY_GROW(sources->list, sources->count))
		return NULL;
	grown = &sources->list[sources->count];
	*grown = (struct source){.job = job ? strdup(job) : NULL, .attempt = attempt};
	part_init(&grown->part);
	if (job && !grown->job)
		return NULL;
	sources->count++;
	return grown;
}

static int hide(struct part *part, enum redact_kind kind, uint32_t *at)
{
	const char *text = part_text(part, *at), *word = redact(kind, text);

	return word == text ? 0 : part_add_text(part, word, at);
}

/* Redacts names of a partial, as rows_text() redacts names of a run. */
static int hide_names(struct part *part)
{
	static const enum redact_kind kinds[PART_WORDS] = {
		[PART_JOB] = REDACT_JOB,         [PART_RUN_ID] = REDACT_TEXT,
		[PART_COMMAND] = REDACT_COMMAND, [PART_CLUSTER] = REDACT_OTHER,
		[PART_OWNER] = REDACT_OTHER,     [PART_REVISION] = REDACT_OTHER,
		[PART_DATASET] = REDACT_OTHER,   [PART_STORAGE] = REDACT_OTHER,
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < part->job.rank_count; i++) {
		r = hide(part, REDACT_HOST, &part->ranks[i].host);
		if (r == 0)
			r = hide(part, REDACT_RUN, &part->ranks[i].path);
	}
	for (int i = 0; r == 0 && i < PART_WORDS; i++)
		r = hide(part, kinds[i], &part->words[i]);
	return r;
}

static int read_part(const char *path, struct part *ret)
{
	int r = part_read(path, ret);

	return r == 0 && redact_is_on() ? hide_names(ret) : r;
}

/* Adds a partial to the sources. Only its path, job and attempt stay in memory. */
static int add_part(const struct options *options, struct sources *sources, const char *path)
{
	struct source *source;
	struct part part;
	const char *job;
	int r = read_part(path, &part);

	/* If a partial is damaged, other jobs are still exported. */
	if (r < 0) {
		part_done(&part);
		sources->files.failed = true;
		r = fail(path, r);
		return options->verb == VERB_EXPORT ? 0 : r;
	}
	job = part_word(&part, PART_JOB);
	if (ranks_is_wanted(options->job, job, part.attempt)) {
		source = grow(sources, job, part.attempt);
		if (source)
			source->path = strdup(path);
		if (!source || !source->path)
			r = cmd_fail("%s", db_error(-ENOMEM));
	}
	part_done(&part);
	return r;
}

static int add_folder(const struct options *options, struct sources *sources, const char *folder,
		      bool *ret_found)
{
	struct names names;
	int status = 0;

	if (names_list(folder, NAMES_PART, &names) == -ENOMEM)
		status = cmd_fail("%s", db_error(-ENOMEM));
	*ret_found = names.count > 0;
	for (size_t i = 0; !status && i < names.count; i++)
		status = add_part(options, sources, names.list[i]);
	names_done(&names);
	return status;
}

static int add_texts(struct part *part, struct part_rank *rank, const char *path, const char *host,
		     const char *gpu, const char *ended)
{
	int r = part_add_text(part, path, &rank->path);

	if (r == 0)
		r = part_add_text(part, host, &rank->host);
	if (r == 0)
		r = part_add_text(part, gpu, &rank->gpu);
	return r < 0 ? r : part_add_text(part, ended, &rank->ended);
}

static int add_words(struct part *part, const char *const words[PART_WORDS])
{
	int r = 0;

	for (int i = 0; r == 0 && i < PART_WORDS; i++)
		if (part->words[i] == PART_NONE)
			r = part_add_text(part, words[i], &part->words[i]);
	return r;
}

/* Finds the cause that a report on this rank alone would find. */
static int find_cause(const struct rank_look *look, const struct load_totals *totals,
		      struct diagnosis *ret)
{
	const struct batch_filter all = batch_filter_all(look->loader_id);
	struct line_samples stacks = {0};
	struct tally_list samples = {0};
	struct lines lines = {0};
	struct load_totals loads;
	struct load_facts facts;
	int r;

	/* Only the waits decide the cause of a rank that does not starve. */
	if (!look->row->finding.starved)
		return cause_find(look->series, &look->row->finding,
				  &(struct cause_input){.is_bare = true}, ret);
	r = batch_totals_of_run(look->db, &loads);
	if (r == 0)
		r = load_facts_read(look->db, look->run, &loads, &all, &facts);
	if (r == 0)
		r = lines_read(look->db, &stacks);
	if (r == 0)
		r = lines_find(&stacks, look->loader_id, &lines);
	if (r == 0)
		r = tally_list_read(look->db, "sample", WHY_SAMPLES, &samples);
	if (r == 0)
		r = why_find(look->db,
			     &(struct why_input){
				     .filter = &all,
				     .series = look->series,
				     .finding = &look->row->finding,
				     .totals = totals,
				     .samples = &samples,
				     .known = {.facts = &facts,
					       .lines = &lines,
					       .has_gpu = look->run->gpu != NULL,
					       .is_bare = true},
			     },
			     ret);
	tally_list_done(&samples);
	lines_done(&lines);
	lines_free(&stacks);
	return r;
}

static int take_loads(const struct rank_look *look, struct part_rank *rank)
{
	const struct batch_filter all = batch_filter_all(look->loader_id);
	struct diagnosis diagnosis = {.cause = CAUSE_UNKNOWN};
	struct load_totals totals;
	struct load_times times;
	int r = 0;

	batch_totals_init(&totals);
	if (look->loader_id >= 0) {
		r = batch_totals(look->db, &all, &totals);
		if (r == 0)
			r = find_cause(look, &totals, &diagnosis);
	}
	times = batch_totals_times(&totals);
	rank->cause = diagnosis.cause;
	rank->load_ns = times.load_ns;
	rank->open_ns = times.open_ns;
	rank->read_ns = times.read_ns;
	rank->decode_ns = times.decode_ns;
	rank->read_bytes = times.read_bytes;
	rank->storage_bytes = times.storage_bytes;
	return r;
}

/* Takes a rank. Facts about the job are taken from the first one; ranks come in order. */
static int take_rank(const struct rank_look *look, void *context)
{
	const struct rank_row *row = look->row;
	const struct finding *finding = &row->finding;
	const struct run_info *run = look->run;
	struct part *part = context;
	struct part_rank *rank = &part->ranks[part->job.rank_count - 1];
	const char *const words[PART_WORDS] = {
		[PART_RUN_ID] = run->id,         [PART_COMMAND] = run->command,
		[PART_CLUSTER] = run->cluster,   [PART_OWNER] = run->owner,
		[PART_REVISION] = run->revision, [PART_DATASET] = run->dataset,
		[PART_STORAGE] = run->storage,
	};
	const struct rank_member *member = &part->job.members[part->job.rank_count - 1];
	int r;

	*rank = (struct part_rank){
		.rank = row->rank,
		.batch_count = finding->batch_count,
		.steady_count = finding->steady_count,
		.own_count = finding->own.count,
		.stall_ratio = finding->stall_ratio,
		.wait_ns = finding->account.wait_ns,
		.time_ns = finding->account.time_ns,
		.own_time_ns = finding->own.time_ns,
		.period_ns = member->period_ns,
		.step_wait_ns = member->wait_ns,
		.starved_ns = member->starved_ns,
		.verdict = finding->verdict,
		.by_gpu = finding->by_gpu,
		.live = row->live,
		.is_terminated = row->is_terminated,
		.alone_share = row->alone_share,
		.world_size = row->world_size > 0 && row->world_size < UINT32_MAX
				      ? (uint32_t)row->world_size
				      : 0,
		.place = member->place,
	};
	r = take_loads(look, rank);
	if (r == 0)
		r = add_texts(part, rank, row->path, row->host, row->gpu,
			      *row->ended ? row->ended : NULL);
	return r == 0 && part->job.rank_count == 1 ? add_words(part, words) : r;
}

static int read_runs(const struct options *options, struct source *source)
{
	const struct rank_files *files = &source->runs;
	struct rank_row *rows = calloc(files->count, sizeof(*rows));
	struct ranks ranks = {.rows = rows, .count = files->count};
	struct part *part = &source->part;
	int status = 0, r;

	part->ranks = calloc(files->count, sizeof(*part->ranks));
	part->attempt = source->attempt;
	part->world_size = ranks_world_size(files);
	part->start_unix_ns = files->files->start_unix_ns;
	r = rows && part->ranks ? part_add_text(part, source->job, &part->words[PART_JOB])
				: -ENOMEM;
	if (r == 0)
		status = cmd_read_ranks(options, files, &part->job, rows, take_rank, part);
	if (rows)
		cmd_ranks_free(&ranks);
	return r < 0 ? cmd_fail("%s", db_error(r)) : status;
}

static int add_runs(const struct options *options, struct sources *sources)
{
	struct rank_files *files = &sources->files;
	int status = ranks_list(options, files);

	for (size_t begin = 0, end; !status && begin < files->count; begin = end) {
		struct source *source =
			grow(sources, files->files[begin].job, files->files[begin].attempt);

		end = ranks_job_end(files, begin);
		if (!source)
			return cmd_fail("%s", db_error(-ENOMEM));
		source->runs = (struct rank_files){files->files + begin, end - begin};
	}
	return status;
}

static int add_all(const struct options *options, struct sources *sources)
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
			r = add_folder(options, sources, word, &is_taken);
		else if ((is_taken = part_is(word)))
			r = add_part(options, sources, word);
		if (!is_taken)
			runs.runs[runs.run_count++] = word;
	}
	if (!r && runs.run_count) {
		runs.run = runs.runs[0];
		r = add_runs(&runs, sources);
	}
	free(runs.runs);
	return r;
}

static int by_job(const void *a, const void *b)
{
	const struct source *left = a, *right = b;
	const char *x = left->job, *y = right->job;
	int order = x && y ? strcmp(x, y) : (x != NULL) - (y != NULL);

	return order ? order : (left->attempt > right->attempt) - (left->attempt < right->attempt);
}

static int list_sources(const struct options *options, struct sources *ret)
{
	int status;

	*ret = (struct sources){.list = NULL};
	status = add_all(options, ret);
	if (!status && !ret->count && !ret->files.failed)
		return cmd_fail("no partial is of job '%s'", options->job);
	if (!status)
		qsort(ret->list, ret->count, sizeof(*ret->list), by_job);
	return status;
}

static size_t job_end(const struct sources *sources, size_t begin)
{
	size_t end = begin + 1;

	while (end < sources->count && by_job(&sources->list[begin], &sources->list[end]) == 0)
		end++;
	return end;
}

static int load(const struct options *options, struct source *source)
{
	int r = source->path ? read_part(source->path, &source->part) : 0;

	if (r < 0)
		return fail(source->path, r);
	return source->path ? 0 : read_runs(options, source);
}

static void free_sources(struct sources *sources)
{
	for (size_t i = 0; i < sources->count; i++) {
		part_done(&sources->list[i].part);
		free(sources->list[i].path);
		free(sources->list[i].job);
	}
	free(sources->list);
	ranks_done(&sources->files);
}

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
					name_of(&merger->sources[two->source]), two->rank,
					name_of(&merger->sources[one->source]));
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
	return r < 0 ? fail(name_of(source), r) : 0;
}

static int take_members(struct merger *merger)
{
	const struct part *first = &merger->sources[merger->members[0].source].part;
	struct part *whole = merger->whole;
	const char *words[PART_WORDS];
	int r;

	for (int i = 0; i < PART_WORDS; i++)
		words[i] = part_word(first, (enum part_word)i);
	r = add_words(whole, words);
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
		r = add_texts(whole, rank, part_text(part, rank->path), part_text(part, rank->host),
			      part_text(part, rank->gpu), part_text(part, rank->ended));
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
		status = load(options, &merger->sources[i]);
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
	int status = list_sources(options, &sources);
	bool failed = sources.files.failed;

	for (size_t begin = 0, end; !status && begin < sources.count; begin = end) {
		struct merger_job job = {.partial = NULL};
		struct merger merger = {.sources = &sources.list[begin], .whole = &job.whole};

		end = job_end(&sources, begin);
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
	free_sources(&sources);
	return status || !failed ? status : CMD_ERROR;
}
