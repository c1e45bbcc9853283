/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd.h - what the commands share: open the run, open the output, say what went wrong.
 */
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
	CMD_ERROR = TERMINAL_ERROR, /* usage, unreadable, damaged, newer */
	CMD_CANNOT_SAY = 3,         /* no batches, too few, or runs that cannot be compared */
};

struct rank_files;

/* Each command: the exit status. Of report and html these are about one run: options->run. */
int cmd_report(const struct options *options);
/* Report and html of the ranks of a job. */
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
	int64_t loader_id; /* -1: it has none */
};

/*
 * What that is made of, for fold: one job's rows, and how jobs are shown. `look`, if not NULL, is
 * called for each rank: 0 or -errno. Returns 0 or CMD_ERROR.
 */
struct jobs {
	const char *path; /* what holds them */
	struct ranks *list;
	size_t count;
};
int cmd_read_ranks(const struct options *options, const struct rank_files *files,
		   struct rank_job *job, struct rank_row *rows,
		   int (*look)(const struct rank_look *look, void *context), void *context);
int cmd_show_jobs(const struct options *options, struct jobs *jobs); /* the exit status */
void cmd_ranks_free(struct ranks *ranks);

int cmd_batches(const struct options *options);
int cmd_compare(const struct options *options);
int cmd_html(const struct options *options);
int cmd_import(const struct options *options);
int cmd_trace(const struct options *options);
int cmd_export(const struct options *options);
int cmd_lake(const struct options *options); /* ... into tables of many jobs */
int cmd_top(const struct options *options);
int cmd_explain(const struct options *options);
int cmd_fold(const struct options *options);
int cmd_gate(const struct options *options);
int cmd_sql(const struct options *options);

/* One line on stderr; returns CMD_ERROR. */
#define cmd_fail(...) terminal_say("dlprof-report", __VA_ARGS__)

/* One line on stderr that is no error; not with --quiet. */
#define cmd_remark(options, ...) ((void)((options)->quiet || cmd_fail(__VA_ARGS__)))

/*
 * Brings the run up to date and opens it. Prints what went wrong. *ret: whether it still records,
 * and what is missing; the user was told so. 0 or CMD_ERROR.
 */
int cmd_open_run(const struct options *options, struct db **ret_db, struct recovered *ret);

/* The same, and `show` on it: its status, or CMD_ERROR. */
int cmd_on_run(const struct options *options,
	       int (*show)(const struct options *options, struct db *db));

/* A read from an open run failed. Prints; returns CMD_ERROR. */
int cmd_fail_read(const struct options *options, int error);

bool cmd_is_same_file(const char *a, const char *b);

/* Is the run of the rank that was asked for, and does it have the loader? 0 or CMD_ERROR. */
int cmd_check_filter(const struct options *options, const struct run_info *run,
		     const struct loader_info *loaders, size_t count);

/*
 * Of a loader with batches, none of which is in what --epoch and --batches ask for: says what there
 * is. 0: nothing was asked for. Or CMD_ERROR.
 */
int cmd_check_part(const struct options *options, const struct loader_info *loader);

/* Where the report goes. */
struct output {
	FILE *file;
	const char *path; /* NULL: stdout */
	bool made;        /* the file is ours to remove if it cannot be completed */
	char part[4096];  /* what gets its name when it is complete; "": is written in its place */
};

/* Opens it, never over an existing file (unless forced) or over the run. 0 or CMD_ERROR. */
int cmd_open_output(const struct options *options, struct output *ret);

/* Only here it shows whether everything was written. `status`, or CMD_ERROR. */
int cmd_close_output(struct output *output, int status);

/* The page that fits the output, the terminal and what the user wants. */
struct page cmd_page(const struct options *options, const struct output *output);

/* Opens the output, has `what` put there (0 or -errno), and closes it: `status`, or CMD_ERROR. */
int cmd_show(const struct options *options,
	     int (*put)(const struct options *options, const void *what, const struct page *page),
	     const void *what, int status);
