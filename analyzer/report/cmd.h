/* SPDX-License-Identifier: Apache-2.0 */
/* cmd.h - what commands share: open the run, open the output, report problems. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "drain/drain.h"
#include "render/form/page.h"
#include "report/options.h"
#include "store/run/query.h"

enum cmd_exit {
	CMD_DONE = 0,
	CMD_GATE_FAILED = 1,
	CMD_ERROR = TERMINAL_ERROR, /* bad usage, or a file that is unreadable, damaged or too
				     * new */
	CMD_CANNOT_SAY = 3,         /* no batches, too few, or runs that cannot be compared */
};

struct rank_files;

/* Each command returns the exit status. Report and html here are about one run: options->run. */
int cmd_report(const struct options *options);
/* Makes the report and html for the ranks of a job. */
int cmd_ranks(const struct options *options, const struct rank_files *files);

struct batch_series;
struct rank_job;
struct rank_row;

/* A rank that was just added to its job, while its run is open. */
struct rank_look {
	struct db *db;
	const struct run_info *run;
	const struct rank_row *row;
	const struct batch_series *series;
	int64_t loader_id; /* -1: the rank has none */
};

/*
 * For fold: reads one job's rows, and shows jobs. `look`, if not NULL, is called for each rank: 0
 * or -errno. Returns 0 or CMD_ERROR.
 */
struct jobs {
	const char *path; /* the folder or file that holds them */
	struct ranks *list;
	size_t count;
};
int cmd_read_ranks(const struct options *options, const struct rank_files *files,
		   struct rank_job *job, struct rank_row *rows,
		   int (*look)(const struct rank_look *look, void *context), void *context);
int cmd_show_jobs(const struct options *options, struct jobs *jobs); /* returns the exit status */
void cmd_ranks_free(struct ranks *ranks);

int cmd_batches(const struct options *options);
int cmd_compare(const struct options *options);
int cmd_html(const struct options *options);
int cmd_import(const struct options *options);
int cmd_trace(const struct options *options);
int cmd_export(const struct options *options);
int cmd_lake(const struct options *options); /* exports rows into tables of many jobs */
int cmd_top(const struct options *options);
int cmd_explain(const struct options *options);
int cmd_fold(const struct options *options);
int cmd_gate(const struct options *options);
int cmd_sql(const struct options *options);

/* Prints one line on stderr; returns CMD_ERROR. */
#define cmd_fail(...) terminal_say("dlprof-report", __VA_ARGS__)

/* Prints one line on stderr that is no error; nothing with --quiet. */
#define cmd_remark(options, ...) ((void)((options)->quiet || cmd_fail(__VA_ARGS__)))

/*
 * Brings the run up to date and opens it, or prints what went wrong. *ret: whether it still
 * records, and what is missing, which the user was told. 0 or CMD_ERROR.
 */
int cmd_open_run(const struct options *options, struct db **ret_db, struct recovered *ret);

/* Does the same, then `show`: its status, or CMD_ERROR. */
int cmd_on_run(const struct options *options,
	       int (*show)(const struct options *options, struct db *db));

/* Prints that reading an open run failed; returns CMD_ERROR. */
int cmd_fail_read(const struct options *options, int error);

bool cmd_is_same_file(const char *a, const char *b);

/* Whether the run has the rank and the loader that were asked for. 0 or CMD_ERROR. */
int cmd_check_filter(const struct options *options, const struct run_info *run,
		     const struct loader_info *loaders, size_t count);

/*
 * Prints which batches a loader has, if --epoch and --batches leave none of them, and returns
 * CMD_ERROR. 0: no part was asked for.
 */
int cmd_check_part(const struct options *options, const struct loader_info *loader);

/* Where the report is written. */
struct output {
	FILE *file;
	const char *path; /* NULL: stdout */
	bool made;        /* we made the file, so remove it if it stays incomplete */
	char part[4096];  /* path that is renamed when complete; "": written in place */
};

/* Opens the output, never over an existing file (unless forced) or the run. 0 or CMD_ERROR. */
int cmd_open_output(const struct options *options, struct output *ret);

/* Closes it, which shows whether everything was written. `status`, or CMD_ERROR. */
int cmd_close_output(struct output *output, int status);

/* The page that fits the output, the terminal and the options. */
struct page cmd_page(const struct options *options, const struct output *output);

/* Opens the output, writes it by `put` (0 or -errno), and closes it: `status`, or CMD_ERROR. */
int cmd_show(const struct options *options,
	     int (*put)(const struct options *options, const void *what, const struct page *page),
	     const void *what, int status);
