/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h - finds the runs of jobs: databases named one by one, or in a folder and below. */
#pragma once

#include "report/cmd.h"

struct rank_file {
	char *path;
	struct db *db;               /* open database; NULL: closed, since too many were open */
	char *job;                   /* id of the job; NULL: not known */
	int64_t attempt, world_size; /* UNKNOWN: the rank did not record it */
	int64_t rank;
	int64_t start_unix_ns, start_ns; /* one moment on two clocks; UNKNOWN: not known */
	bool live;
	int64_t missing_count; /* records of which the drain could not make rows */
};

struct rank_files {
	struct rank_file *files; /* sorted by job, attempt and rank; one file for each rank */
	size_t count;
	bool failed; /* a run on the command line could not be read, and is left out */
};

/*
 * Returns true if `wanted` (from --job) names this job: "ID", or as in tables of jobs "ID
 * (ATTEMPT)". NULL means all jobs. `job` may be redacted, `wanted` is not.
 */
bool ranks_is_wanted(const char *wanted, const char *job, int64_t attempt);

/* Returns the largest world size that any run recorded, or UNKNOWN. */
int64_t ranks_world_size(const struct rank_files *files);

/* Returns the index after the last file with the job and attempt of file `begin`. */
size_t ranks_job_end(const struct rank_files *files, size_t begin);

/*
 * Lists the runs that `options` name, after adding their last records. A run in a folder that
 * cannot be read is skipped with a remark. Of two runs of one rank, the later one counts. With
 * --job, runs of other jobs are left out. For tables of many jobs, a run that cannot be read sets
 * `failed` and is left out. Prints what went wrong. Returns 0 or CMD_ERROR; call ranks_done() in
 * both cases.
 */
int ranks_list(const struct options *options, struct rank_files *ret);
void ranks_done(struct rank_files *files);

/* Checks that --output is not one of the runs. Returns 0 or CMD_ERROR. */
int ranks_check_output(const struct options *options, const struct rank_files *files);

/* Returns the run of --rank, or the first. If there is none, prints that and returns NULL. */
const struct rank_file *ranks_find(const struct options *options, const struct rank_files *files);

/*
 * Finds the run that `path` means: the file itself, or in a folder the run of --rank, or its only
 * run. Prints what went wrong. Returns 0 or CMD_ERROR; the caller frees *ret_path.
 */
int ranks_pick(const struct options *options, const char *path, char **ret_path);

/* Returns true if the options name several runs, or a folder. */
bool ranks_are_meant(const struct options *options);
