/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h - find the runs of jobs: several databases, or those in a folder and its folders. */
#pragma once

#include "report/cmd.h"

struct rank_file {
	char *path;
	struct db *db;               /* open; NULL: too many runs to keep open */
	char *job;                   /* id of the job; NULL: not known */
	int64_t attempt, world_size; /* UNKNOWN: not known */
	int64_t rank;
	int64_t start_unix_ns, start_ns; /* the same moment on two clocks; UNKNOWN: not
					  * known */
	bool live;
	int64_t missing_count; /* records that could not be folded in */
};

struct rank_files {
	struct rank_file *files; /* sorted by job, attempt and rank, one for each */
	size_t count;
	bool failed; /* a run that was named could not be read, and is left out */
};

/*
 * Whether --job wants this job: "ID" or, as tables of jobs have it, "ID (ATTEMPT)"; NULL wants
 * every one. `job` is redacted, and `wanted` is not.
 */
bool ranks_is_wanted(const char *wanted, const char *job, int64_t attempt);

/* The largest world size that any run knows, or UNKNOWN. */
int64_t ranks_world_size(const struct rank_files *files);

/* Where the files for `begin`'s job and attempt end. */
size_t ranks_job_end(const struct rank_files *files, size_t begin);

/*
 * Lists the runs that `options` name, brought up to date. Runs in a folder that cannot be read are
 * skipped with a remark, and of two runs of a rank the later one counts. With --job, only runs of
 * that job. Rows about many jobs go on without an unreadable run: see `failed`. Prints what went
 * wrong. 0 or CMD_ERROR; ranks_done() in either case.
 */
int ranks_list(const struct options *options, struct rank_files *ret);
void ranks_done(struct rank_files *files);

/* Checks that --output is none of the runs. 0 or CMD_ERROR. */
int ranks_check_output(const struct options *options, const struct rank_files *files);

/* The run of the rank that was asked for, or the first run. NULL: prints that there is none. */
const struct rank_file *ranks_find(const struct options *options, const struct rank_files *files);

/*
 * Finds the run for `path`: the file itself or, for a folder, the run of --rank or its only one.
 * Prints what went wrong. 0 or CMD_ERROR; *ret_path is to be freed.
 */
int ranks_pick(const struct options *options, const char *path, char **ret_path);

/* Whether the options name several runs, or a folder with runs. */
bool ranks_are_meant(const struct options *options);
