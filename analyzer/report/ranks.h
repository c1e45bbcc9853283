/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h - the runs of jobs: several databases, or those in a folder and the folders in it. */
#pragma once

#include "report/cmd.h"

struct rank_file {
	char *path;
	struct db *db;               /* open; NULL: of very many they are not all */
	char *job;                   /* its id; NULL: none is known */
	int64_t attempt, world_size; /* QUERY_UNKNOWN: not known */
	int64_t rank;
	int64_t start_unix_ns, start_ns; /* the same moment; QUERY_UNKNOWN: not known */
	bool live;
	int64_t missing_count; /* records that could not be folded in */
};

struct rank_files {
	struct rank_file *files; /* by job, attempt and rank, one for each */
	size_t count;
	bool failed; /* one could not be read, was named, and is left out */
};

/*
 * By --job: "ID", or as a table of jobs has it, "ID (ATTEMPT)"; NULL: every one. `job` is redacted,
 * and what the user asks for is not.
 */
bool ranks_is_wanted(const char *wanted, const char *job, int64_t attempt);

/* Of those that know it the largest, or QUERY_UNKNOWN. */
int64_t ranks_world_size(const struct rank_files *files);

/* Behind the last file of the job and attempt that `begin` is of. */
size_t ranks_job_end(const struct rank_files *files, size_t begin);

/*
 * What `options` name, brought up to date. In a folder what cannot be read is said and skipped, and
 * of two runs of a rank the later one counts. Of --job, only that one's. Of rows about jobs nothing
 * stops for a run that cannot be read: see `failed`. Prints what went wrong. 0 or CMD_ERROR;
 * ranks_done() in either case.
 */
int ranks_list(const struct options *options, struct rank_files *ret);
void ranks_done(struct rank_files *files);

/* Is --output none of them? 0 or CMD_ERROR. */
int ranks_check_output(const struct options *options, const struct rank_files *files);

/* The one with the rank that was asked for, or the first. NULL: prints that there is none. */
const struct rank_file *ranks_find(const struct options *options, const struct rank_files *files);

/*
 * The one run that is meant by `path`: itself, or of a folder the run of --rank, or its only one.
 * Prints what went wrong. 0 or CMD_ERROR; *ret_path is to be freed.
 */
int ranks_pick(const struct options *options, const char *path, char **ret_path);

/* Do the options name several runs, or a folder of them? */
bool ranks_are_meant(const struct options *options);
