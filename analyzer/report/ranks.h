/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h - finds the runs of jobs: databases named one by one, or in a folder and below. */
#pragma once

#include "report/cmd.h"

struct rank_file {
	char *path;
	struct db *db;               /* NULL: closed, as the run is live or too many are open */
	char *job;                   /* NULL: unknown */
	int64_t attempt, world_size; /* UNKNOWN: not recorded */
	int64_t rank;
	int64_t start_unix_ns, start_ns; /* the run's start by two clocks, or UNKNOWN */
	bool live;
	int64_t missing_count; /* number of records that the database lacks */
};

struct rank_files {
	struct rank_file *files; /* one file for each rank; sorted by job, attempt and rank */
	size_t count;
	bool failed;
};

/* Returns true if --job ("ID", "ID (ATTEMPT)" or NULL) means this job. `job` may be redacted. */
bool ranks_is_wanted(const char *wanted, const char *job, int64_t attempt);

/* Returns the largest world size that a run recorded; UNKNOWN: none did. */
int64_t ranks_world_size(const struct rank_files *files);

size_t ranks_job_end(const struct rank_files *files, size_t begin);

/*
 * Lists the latest run of each rank that --job names. An unreadable file in a folder is skipped
 * with a remark; for tables of many jobs, `failed` is set, since their rows are missing. Fails if
 * the output would replace a run. Returns 0 or CMD_ERROR; call ranks_done() in both cases.
 */
int ranks_list(const struct options *options, struct rank_files *ret);
void ranks_done(struct rank_files *files);

/* Returns the run of --rank or, without --rank, the first one. Prints why if NULL. */
const struct rank_file *ranks_find(const struct options *options, const struct rank_files *files);

/*
 * Finds the run that word `which` of the command line names. In a folder, this is the run of
 * --rank, or the only one. Returns 0 or CMD_ERROR; the caller frees *ret_path.
 */
int ranks_pick(const struct options *options, int which, char **ret_path);

bool ranks_are_meant(const struct options *options);
