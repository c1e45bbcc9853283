/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_lake.c - `dlprof-report export --into FLEET.db RUN|FOLDER|PART...`: sums up jobs, and writes
 * them into tables of lake.def. `export --csv -o FOLDER` writes such tables, or FLEET.db's, as CSV.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/cause/cause.h"
#include "analysis/statistics/clamp.h"
#include "drain/database/home.h"
#include "render/form/utf8.h"
#include "render/run/parts.h"
#include "report/data/sheet.h"
#include "report/jobs/merger.h"
#include "store/database/db_open.h"
#include "store/fleet/lake.h"

#define MOST_TEXTS 8
#define NAME       64
#define NO_BYTES   "\xef\xbf\xbd" /* UTF-8 of U+FFFD, which replaces invalid bytes */

struct texts {
	char *list[MOST_TEXTS];
	size_t count;
	bool failed;
};

/* Returns `text` as valid UTF-8, which the tables' readers need. `texts` owns changed texts. */
static const char *clean(struct texts *texts, const char *text)
{
	const char *at = text;
	struct utf8 rune;
	bool valid = true;
	size_t size;
	FILE *out;

	while (text && valid && utf8_next(&at, &rune))
		valid = rune.valid;
	if (!text || valid)
		return text;
	out = open_memstream(&texts->list[texts->count++], &size);
	for (at = text; out && utf8_next(&at, &rune);)
		fwrite(rune.valid ? rune.bytes : NO_BYTES, 1,
		       rune.valid ? rune.length : strlen(NO_BYTES), out);
	texts->failed |= !out || fclose(out) != 0;
	return texts->failed ? NULL : texts->list[texts->count - 1];
}

static int free_texts(struct texts *texts)
{
	while (texts->count)
		free(texts->list[--texts->count]);
	return texts->failed ? -ENOMEM : 0;
}

static double seconds(double ns)
{
	return ns / 1e9;
}

static int64_t whole(double value)
{
	return fabs(value) < 9e18 ? llrint(value) : UNKNOWN;
}

static int put_job(struct lake *lake, const struct part *part, const struct ranks *ranks,
		   const struct lake_rank *key)
{
	const struct rank_finding *job = &ranks->job;
	const char *command = part_word(part, PART_COMMAND);
	const char *words[PART_WORDS];
	struct texts texts = {.count = 0};
	struct lake_job row;
	char name[NAME];
	int r;

	for (int i = PART_CLUSTER; i < PART_WORDS; i++)
		words[i] = clean(&texts, part_word(part, (enum part_word)i));
	screen_program(command ? command : "", name, sizeof(name));
	row = (struct lake_job){
		.job_id = key->job_id,
		.attempt = key->attempt,
		.name = *name ? clean(&texts, name) : NULL,
		.cluster = words[PART_CLUSTER],
		.owner = words[PART_OWNER],
		.revision = words[PART_REVISION],
		.dataset = words[PART_DATASET],
		.storage = words[PART_STORAGE],
		.started_unix_s =
			part->start_unix_ns < 0 ? NAN : seconds((double)part->start_unix_ns),
		.time_s = seconds(job->time_ns),
		.world_size = part->world_size < 0 ? UNKNOWN : part->world_size,
		.ranks_seen = (int64_t)ranks->count,
		.verdict = stall_verdict_ids[job->verdict],
		.stall_ratio = job->stall_ratio,
		.at_most = job->alignment != RANK_ALONE && !job->is_exact,
		.wait_s = seconds(job->wait_ns),
		.starved = isnan(job->stall_ratio) ? UNKNOWN : job->starved,
		.culprit = job->culprit < 0 ? UNKNOWN : part->ranks[job->culprit].rank,
		.blame_share = job->blame_share,
		.gain_max = 1 / (1 - job->stall_ratio),
	};
	for (size_t i = 0; i < ranks->count; i++) {
		row.batches = clamp_add(row.batches, (int64_t)part->ranks[i].batch_count);
		row.gpus += part->ranks[i].gpu != PART_NONE;
	}
	if (!row.gpus)
		row.gpus = UNKNOWN;
	r = lake_put_job(lake, &row);
	return free_texts(&texts) < 0 ? -ENOMEM : r;
}

static double rest(const struct part_rank *rank)
{
	return rank->load_ns - (isnan(rank->open_ns) ? 0 : rank->open_ns) -
	       (isnan(rank->read_ns) ? 0 : rank->read_ns) -
	       (isnan(rank->decode_ns) ? 0 : rank->decode_ns);
}

static int put_rank(struct lake *lake, const struct part_rank *rank, const struct ranks *ranks,
		    size_t i, const struct lake_rank *key)
{
	struct texts texts = {.count = 0};
	struct lake_rank row = *key;
	int r;

	row.rank_id = rank->rank;
	row.node = clean(&texts, ranks->rows[i].host);
	row.gpu = clean(&texts, ranks->rows[i].gpu);
	row.batches = (int64_t)rank->batch_count;
	row.verdict = stall_verdict_ids[rank->verdict];
	row.stall_ratio = rank->stall_ratio;
	row.wait_s = seconds(rank->wait_ns);
	row.time_s = seconds(rank->time_ns);
	row.load_s = seconds(rank->load_ns);
	row.open_s = seconds(rank->open_ns);
	row.read_s = seconds(rank->read_ns);
	row.decode_s = seconds(rank->decode_ns);
	row.other_s = seconds(fmax(rest(rank), 0));
	if (isnan(rank->load_ns))
		row.other_s = NAN;
	row.read_bytes = whole(rank->read_bytes);
	row.storage_bytes = whole(rank->storage_bytes);
	row.cause = cause_names[rank->cause];
	row.is_culprit = ranks->blames[i].is_culprit;
	row.blame_s = ranks->job.alignment == RANK_ALONE ? NAN : seconds(ranks->blames[i].wait_ns);
	r = lake_put_rank(lake, &row);
	return free_texts(&texts) < 0 ? -ENOMEM : r;
}

/* Writes the windows of job.width steps each, by which the job was judged. */
static int put_steps(struct lake *lake, const struct part *part, const struct ranks *ranks,
		     const struct lake_rank *key)
{
	const int width = __builtin_ctz((unsigned)ranks->job.width);
	const struct window_width *list = &part->job.groups[ranks->job.group].by_step.widths[width];
	int r = 0;

	for (size_t e = 0; r == 0 && e < part->job.epoch_count; e++) {
		const struct rank_base *epoch = &part->job.epochs[e];
		const size_t begin = epoch->base >> width;

		for (size_t i = begin;
		     r == 0 && i < list->count && i << width < epoch->base + epoch->length; i++) {
			const struct window *window = &list->list[i];
			const struct lake_step row = {
				.job_id = key->job_id,
				.attempt = key->attempt,
				.epoch = epoch->epoch,
				.first_step = (int64_t)((i - begin) << width),
				.width = ranks->job.width,
				.stall_us = whole((double)window->wait_ns / 1e3),
				.second_us = whole((double)window->second_ns / 1e3),
				.rank_id = part->ranks[window->rank].rank,
				.starved = window->is_starved,
				.pace_us = whole((double)window->pace_ns / 1e3),
				.sum_us = whole((double)window->sum_ns / 1e3),
				.ranks = window->count,
			};

			r = window->count ? lake_put_step(lake, &row) : 0;
		}
	}
	return r;
}

static int put_runs(struct lake *lake, const struct rank_files *runs)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < runs->count; i++) {
		struct db *db = runs->files[i].db;

		if (!db)
			r = home_open_read(runs->files[i].path, &db);
		else
			db_limit_renew(db);
		if (r == 0)
			r = lake_put_run(lake, db, runs->files[i].rank);
		if (!runs->files[i].db)
			db_close(db);
		if (r < 0)
			cmd_fail("cannot read '%s': %s", runs->files[i].path, db_error(r));
	}
	return r < 0 ? -EIO : 0;
}

static int fail(const char *path, int error)
{
	return cmd_fail("cannot write '%s': %s", path, lake_error(error));
}

struct target {
	struct lake *lake;
	const char *path;
};

static int put(const struct options *options, struct merger_job *job, void *context)
{
	const struct part *part = &job->whole;
	const struct target *target = context;
	struct lake *lake = target->lake;
	struct texts texts = {.count = 0};
	struct lake_rank key = {.attempt = part->attempt < 0 ? 0 : part->attempt};
	struct ranks ranks;
	int r = merger_judge(options, &job->whole, &ranks), status = 0;

	key.job_id = clean(&texts, ranks.job_id ? ranks.job_id : part_word(part, PART_RUN_ID));
	if (!key.job_id)
		key.job_id = "";
	if (options->with_batches && job->partial)
		status = cmd_fail("'%s' is a partial, which has no batches; --with-batches needs "
				  "the runs",
				  job->partial);
	if (r == 0 && !status)
		r = lake_begin(lake, key.job_id, key.attempt);
	if (r == 0 && !status)
		r = put_job(lake, part, &ranks, &key);
	for (size_t i = 0; r == 0 && !status && i < ranks.count; i++)
		r = put_rank(lake, &part->ranks[i], &ranks, i, &key);
	if (r == 0 && !status && ranks.job.alignment == RANK_BY_STEP)
		r = put_steps(lake, part, &ranks, &key);
	if (r == 0 && !status && options->with_batches && put_runs(lake, &job->runs) < 0)
		job->failed = true;
	if (r == 0 && !status)
		r = job->failed ? lake_cancel(lake) : lake_commit(lake);
	cmd_ranks_free(&ranks);
	free_texts(&texts);
	return status ? status : r < 0 ? fail(target->path, r) : 0;
}

/* Writes all jobs into a file. `is_for_new`: the file must not have any job yet. */
static int put_all(const struct options *options, const char *path, bool is_for_new)
{
	struct target target = {.path = path};
	int r = lake_open(path, is_for_new, &target.lake);
	int status = r < 0 ? fail(path, r) : merger_jobs(options, put, &target);

	lake_close(target.lake);
	return status;
}

static int put_tables(const struct options *options, const char *path)
{
	struct options one = *options;
	const char *table;
	int status = CMD_DONE;

	for (size_t i = 0; !status && (table = lake_table(i)); i++) {
		char name[PATH_MAX], sql[64];
		struct output output;
		struct sheet sheet = {.is_raw = true};
		const struct export_sink sink = {sheet_names, sheet_row, &sheet};
		int r;

		snprintf(name, sizeof(name), "%s/%s.csv", options->output, table);
		snprintf(sql, sizeof(sql), "SELECT * FROM %s", table);
		one.output = name;
		status = cmd_open_output(&one, &output);
		if (status)
			break;
		sheet.file = output.file;
		r = lake_query(path, sql, &sink);
		if (r < 0 && !ferror(output.file))
			status = cmd_fail("cannot read '%s': %s", path, lake_error(r));
		status = cmd_close_output(&output, status);
	}
	return status;
}

/* Writes CSV from a temporary database, in which each job has only its newest rows. */
static int put_csv(const struct options *options)
{
	char path[PATH_MAX];
	int status, written, file;

	if (mkdir(options->output, 0777) < 0 && errno != EEXIST)
		return cmd_fail("cannot make the folder '%s': %s", options->output,
				strerror(errno));
	if (options->run_count == 1 && lake_is(options->run))
		return put_tables(options, options->run);
	if (snprintf(path, sizeof(path), "%s/.jobs-XXXXXX", options->output) >= (int)sizeof(path))
		return cmd_fail("the name of the folder is too long");
	file = mkstemp(path);
	if (file < 0)
		return cmd_fail("cannot write into '%s': %s", options->output, strerror(errno));
	close(file);
	status = put_all(options, path, false);
	/* Jobs that can be read are written, also if others cannot be. */
	written = lake_is(path) ? put_tables(options, path) : CMD_DONE;
	unlink(path);
	return written ? written : status;
}

int cmd_lake(const struct options *options)
{
	return options->into ? put_all(options, options->into, options->redact) : put_csv(options);
}
