/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ranks.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/statistics/array.h"
#include "drain/database/home.h"
#include "drain/drain.h"
#include "report/names.h"
#include "store/database/db_open.h"
#include "store/database/redact.h"

#define MOST_REMARKS 5
#define MOST_OPEN    64 /* files that stay open: opening is slow on a network file system */
#define MOST_DEPTH   4

struct listing {
	const struct options *options;
	struct rank_files *files;
	/* For tables of many jobs: a run without a job id is a job, a damaged one stops none. */
	bool is_of_many;
	size_t skipped, lacking_count;
	size_t root; /* length of the path of the user's folder */
};

static bool is_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool ranks_are_meant(const struct options *options)
{
	return options->run_count > 1 || is_folder(options->run);
}

static void skip(struct listing *listing, const char *path, const char *why)
{
	if (listing->skipped++ < MOST_REMARKS)
		cmd_remark(listing->options, "skipping '%s': %s", path, why);
}

/* Reads facts of a run. `stays_open`: keeps the file open, unless the run still records. */
static int look(struct listing *listing, const char *path, bool stays_open, struct rank_file *ret)
{
	char **from;
	struct recovered recovered;
	struct run_info run;
	struct db *db;
	int r = drain_recover(path, &recovered);

	if (r < 0 && listing->lacking_count++ < MOST_REMARKS)
		cmd_remark_missing(listing->options, path, r, &recovered);
	ret->live = recovered.live;
	ret->missing_count = recovered.missing_count;
	r = recovered.is_home ? db_open_read(path, &db) : home_open_read(path, &db);
	if (r < 0)
		return r;
	r = query_run(db, &run);
	if (r == 0) {
		ret->rank = run.rank;
		ret->start_unix_ns = run.start_unix_ns;
		ret->start_ns = run.start_ns;
		ret->attempt = run.attempt;
		ret->world_size = run.world_size;
		from = run.job_id || !listing->is_of_many ? &run.job_id : &run.id;
		ret->job = *from;
		*from = NULL;
		run_info_done(&run);
	}
	if (r == 0 && stays_open && !recovered.live)
		ret->db = db;
	else
		db_close(db);
	return r;
}

static void file_done(struct rank_file *file)
{
	db_close(file->db);
	free(file->path);
	free(file->job);
}

/* Adds a run, and owns `path`. `folder`: job of a run without an id. `must`: fail if unreadable. */
static int add(struct listing *listing, char *path, const char *folder, bool must)
{
	struct rank_files *files = listing->files;
	const char *output = listing->options->output;
	struct rank_file file = {.path = path};
	int r = look(listing, path, files->count < MOST_OPEN, &file);

	if (r < 0) {
		must |= listing->is_of_many && names_ends(path, NAMES_RUN);
		files->failed |= must;
		if (must)
			r = cmd_fail("cannot open '%s': %s", path, db_error(r));
		else
			skip(listing, path, db_error(r));
		free(path);
		return must && !listing->is_of_many ? r : 0;
	}
	if (output && cmd_is_same_file(output, path)) {
		file_done(&file);
		return cmd_fail("will not write over the run itself: '%s'", output);
	}
	if (!file.job && folder)
		file.job = strdup(redact(REDACT_JOB, folder));
	if (!ARRAY_GROW(files->files, files->count)) {
		file_done(&file);
		return cmd_fail("%s", strerror(ENOMEM));
	}
	files->files[files->count++] = file;
	return 0;
}

/* Returns 0 for files that cannot be runs: hidden ones, and SQLite's files beside a database. */
static int is_candidate(const struct dirent *entry)
{
	static const char *const beside[] = {"-journal", "-wal", "-shm"};

	for (size_t i = 0; i < ARRAY_COUNT(beside); i++)
		if (names_ends(entry->d_name, beside[i]))
			return 0;
	return entry->d_name[0] != '.';
}

static int add_folder(struct listing *listing, const char *folder, int depth)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_candidate, alphasort), i, status = 0;
	const char *slash = folder[0] && folder[strlen(folder) - 1] == '/' ? "" : "/";

	if (!depth)
		listing->root = strlen(folder) + strlen(slash);
	if (count < 0)
		return depth ? 0 : cmd_fail("cannot read '%s': %s", folder, strerror(errno));
	for (i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		struct stat file;
		char *path = NULL;

		if (!status && asprintf(&path, "%s%s%s", folder, slash, name) < 0) {
			path = NULL;
			status = cmd_fail("%s", strerror(ENOMEM));
		} else if (!status && lstat(path, &file) == 0 && S_ISDIR(file.st_mode)) {
			if (depth < MOST_DEPTH)
				status = add_folder(listing, path, depth + 1);
		} else if (!status && (!depth || names_ends(name, NAMES_RUN)) &&
			   stat(path, &file) == 0 && S_ISREG(file.st_mode)) {
			status = add(listing, path, depth ? folder + listing->root : NULL, false);
			path = NULL;
		}
		free(path);
		free(entries[i]);
	}
	free(entries);
	return status;
}

/* Compares jobs, then attempts. All runs without a job id are one job. */
static int compare_jobs(const struct rank_file *left, const struct rank_file *right)
{
	int order = strcmp(left->job ? left->job : "", right->job ? right->job : "");

	return order ? order : (left->attempt > right->attempt) - (left->attempt < right->attempt);
}

size_t ranks_job_end(const struct rank_files *files, size_t begin)
{
	size_t end = begin + 1;

	while (end < files->count && compare_jobs(&files->files[begin], &files->files[end]) == 0)
		end++;
	return end;
}

int64_t ranks_world_size(const struct rank_files *files)
{
	int64_t most = UNKNOWN;

	for (size_t i = 0; i < files->count; i++)
		if (files->files[i].world_size > most)
			most = files->files[i].world_size;
	return most;
}

static int by_rank(const void *a, const void *b)
{
	const struct rank_file *left = a, *right = b;
	int order = compare_jobs(left, right);

	if (order)
		return order;
	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	if (left->start_unix_ns != right->start_unix_ns)
		return left->start_unix_ns > right->start_unix_ns ? -1 : 1;
	return strcmp(left->path, right->path);
}

bool ranks_is_wanted(const char *wanted, const char *job, int64_t attempt)
{
	char label[32], *id;
	size_t length;
	bool is_wanted;

	if (!wanted || !job)
		return !wanted;
	if (strcmp(redact(REDACT_JOB, wanted), job) == 0)
		return true;
	length =
		(size_t)snprintf(label, sizeof(label), " (%" PRId64 ")", attempt < 0 ? 0 : attempt);
	if (strlen(wanted) < length || strcmp(wanted + strlen(wanted) - length, label) != 0)
		return false;
	id = strndup(wanted, strlen(wanted) - length);
	is_wanted = id && strcmp(redact(REDACT_JOB, id), job) == 0;
	free(id);
	return is_wanted;
}

static int choose_job(struct listing *listing)
{
	struct rank_files *files = listing->files;
	const char *job = listing->options->job;
	size_t kept = 0, i;

	for (i = 0; job && i < files->count; i++) {
		if (ranks_is_wanted(job, files->files[i].job, files->files[i].attempt))
			files->files[kept++] = files->files[i];
		else
			file_done(&files->files[i]);
	}
	if (job)
		files->count = kept;
	return !job || kept ? 0 : cmd_fail("no run of job '%s' is there", job);
}

/* Keeps each rank's latest run. Fails if the user named several runs, and all are of one rank. */
static int drop_earlier(struct listing *listing, bool are_named)
{
	struct rank_files *files = listing->files;
	size_t kept = 0, i;

	if (files->count)
		qsort(files->files, files->count, sizeof(*files->files), by_rank);
	if (are_named && files->count > 1 && ranks_job_end(files, 0) == files->count &&
	    files->files[0].rank == files->files[files->count - 1].rank)
		return cmd_fail("these %zu runs are all of rank %" PRId64
				", so they are not ranks of one job; to compare two of them: "
				"dlprof-report compare %s %s",
				files->count, files->files[0].rank, files->files[1].path,
				files->files[0].path);
	for (i = 0; i < files->count; i++) {
		char why[PATH_MAX + 100];

		if (!kept || files->files[kept - 1].rank != files->files[i].rank ||
		    compare_jobs(&files->files[kept - 1], &files->files[i]) != 0) {
			files->files[kept++] = files->files[i];
			continue;
		}
		snprintf(why, sizeof(why),
			 "there is a later run of rank %" PRId64
			 ", '%s'; dlprof-report compare A B compares two",
			 files->files[i].rank, files->files[kept - 1].path);
		skip(listing, files->files[i].path, why);
		file_done(&files->files[i]);
	}
	files->count = kept;
	return 0;
}

int ranks_list(const struct options *options, struct rank_files *ret)
{
	struct listing listing = {options, ret, .is_of_many = options->verb == VERB_EXPORT};
	bool are_named = true;
	int status = 0;

	*ret = (struct rank_files){0};
	for (int i = 0; !status && i < options->run_count; i++) {
		const char *path = options->runs[i];
		char *copy = is_folder(path) ? NULL : strdup(path);

		are_named &= copy != NULL;
		status = copy ? add(&listing, copy, NULL, true) : add_folder(&listing, path, 0);
	}
	if (!status)
		status = choose_job(&listing);
	if (!status)
		status = drop_earlier(&listing, are_named);
	if (status)
		return status;
	if (listing.skipped > MOST_REMARKS)
		cmd_remark(options, "and %zu more were skipped", listing.skipped - MOST_REMARKS);
	if (listing.lacking_count > MOST_REMARKS)
		cmd_remark(options, "and %zu more may lack records",
			   listing.lacking_count - MOST_REMARKS);
	return ret->count || ret->failed
		       ? 0
		       : cmd_fail("'%s' holds no run of dlprof", options->runs[0]);
}

void ranks_done(struct rank_files *files)
{
	while (files->count)
		file_done(&files->files[--files->count]);
	free(files->files);
}

const struct rank_file *ranks_find(const struct options *options, const struct rank_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		if (options->rank < 0 || files->files[i].rank == options->rank)
			return &files->files[i];
	cmd_fail("no rank %" PRId64 " is among the %zu of '%s'", options->rank, files->count,
		 options->run);
	return NULL;
}

static int pick(const struct options *options, const char *folder, const struct rank_files *files,
		char **ret_path)
{
	size_t i;

	if (ranks_job_end(files, 0) < files->count)
		return cmd_fail("'%s' holds several jobs or attempts; --job ID chooses one, a "
				"folder or file within it does, too",
				folder);
	if (options->rank < 0 && files->count > 1)
		return cmd_fail("'%s' holds %zu ranks; --rank N chooses one", folder, files->count);
	for (i = 0; i < files->count; i++) {
		if (options->rank >= 0 && files->files[i].rank != options->rank)
			continue;
		*ret_path = strdup(files->files[i].path);
		return *ret_path ? 0 : cmd_fail("%s", strerror(ENOMEM));
	}
	return cmd_fail("'%s' holds no rank %" PRId64 ", but %" PRId64 " to %" PRId64, folder,
			options->rank, files->files[0].rank, files->files[files->count - 1].rank);
}

int ranks_pick(const struct options *options, int which, char **ret_path)
{
	const char *path = options->runs[which];
	struct options one = *options;
	struct rank_files files;
	int status;

	*ret_path = NULL;
	if (!is_folder(path)) {
		*ret_path = strdup(path);
		return *ret_path ? 0 : cmd_fail("%s", strerror(ENOMEM));
	}
	one.runs += which;
	one.run_count = 1;
	status = ranks_list(&one, &files);
	if (!status)
		status = pick(options, path, &files, ret_path);
	ranks_done(&files);
	return status;
}
