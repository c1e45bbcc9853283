/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h - finds the runs of jobs: several databases, or those in a folder and its folders. */
#pragma once

#include "report/cmd.h"

struct rank_file {
	char *path;
	struct db *db;               /* open database; NULL: closed, as too many were open */
	char *job;                   /* id of the job; NULL: not known */
	int64_t attempt, world_size; /* UNKNOWN: the rank has not recorded it */
	int64_t rank;
	int64_t start_unix_ns, start_ns; /* the same moment on two clocks; UNKNOWN: not known */
	bool live;
	int64_t missing_count; /* records that the drain could not make rows of */
};

struct rank_files {
	struct rank_file *files; /* sorted by job, attempt and rank; one file for each rank */
	size_t count;
	bool failed; /* a run that the user named could not be read, and is left out */
};

/*
 * Returns true if `wanted` (--job) means this job: "ID" or, as in tables of jobs, "ID (ATTEMPT)";
 * NULL means all jobs. `job` is redacted, and `wanted` is not.
 */
bool ranks_is_wanted(const char *wanted, const char *job, int64_t attempt);

/* Returns the largest world size that any run has recorded, or UNKNOWN. */
int64_t ranks_world_size(const struct rank_files *files);

/* Returns the index after the last file of the job and attempt of file `begin`. */
size_t ranks_job_end(const struct rank_files *files, size_t begin);

/*
 * Lists the runs that `options` name, after adding their last records. Runs in a folder that cannot
 * be read are skipped with a remark, and of two runs of a rank the later one counts. With --job,
 * only runs of that job are listed. Tables of many jobs leave out an unreadable run: see `failed`.
 * Prints what went wrong. Returns 0 or CMD_ERROR; call ranks_done() in both cases.
 */
int ranks_list(const struct options *options, struct rank_files *ret);
void ranks_done(struct rank_files *files);

/* Checks that --output is not one of the runs. Returns 0 or CMD_ERROR. */
int ranks_check_output(const struct options *options, const struct rank_files *files);

/* Returns the run of the rank that the user wants, or the first. NULL after printing: no run. */
const struct rank_file *ranks_find(const struct options *options, const struct rank_files *files);

/*
 * Finds the run of `path`: the file itself or, for a folder, the run of --rank or its only one.
 * Prints what went wrong. Returns 0 or CMD_ERROR; the caller frees *ret_path.
 */
int ranks_pick(const struct options *options, const char *path, char **ret_path);

/* Returns true if the options name several runs, or a folder of runs. */
bool ranks_are_meant(const struct options *options);
