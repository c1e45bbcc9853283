/* SPDX-License-Identifier: Apache-2.0 */
/* cmd.h - what several commands do: open the run, open the output, report problems. */
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
	CMD_ERROR = TERMINAL_ERROR, /* wrong usage, or a file that is unreadable, damaged, or too
				     * new */
	CMD_CANNOT_SAY = 3,         /* no batches, too few, or runs that cannot be compared */
};

struct rank_files;

/* Commands return their exit status. cmd_report() and cmd_html() show one run, options->run. */
int cmd_report(const struct options *options);
/* Shows the report or page of a job's ranks. */
int cmd_ranks(const struct options *options, const struct rank_files *files);

struct batch_series;
struct rank_job;
struct rank_row;

/* A rank that was just added to its job, while its run is still open. */
struct rank_look {
	struct db *db;
	const struct run_info *run;
	const struct rank_row *row;
	const struct batch_series *series;
	int64_t loader_id; /* id of the judged loader; -1: the rank has no loader */
};

/*
 * cmd_read_ranks() judges the runs of one job; if `look` is not NULL, calls it for each rank (it
 * returns 0 or -errno). Returns 0 or CMD_ERROR. cmd_show_jobs() shows several jobs.
 */
struct jobs {
	const char *path; /* folder or file that contains the jobs */
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
int cmd_lake(const struct options *options); /* writes rows into the tables of many jobs */
int cmd_top(const struct options *options);
int cmd_explain(const struct options *options);
int cmd_fold(const struct options *options);
int cmd_gate(const struct options *options);
int cmd_sql(const struct options *options);

/* Prints one line on stderr, and returns CMD_ERROR. */
#define cmd_fail(...) terminal_say("dlprof-report", __VA_ARGS__)

/* Prints one line on stderr that is no error, unless --quiet is given. */
#define cmd_remark(options, ...) ((void)((options)->quiet || cmd_fail(__VA_ARGS__)))

/*
 * Adds a run's last records to its database, and opens it. Prints what went wrong, and what is
 * missing. *ret: whether the run still records, and what is missing. Returns 0 or CMD_ERROR.
 */
int cmd_open_run(const struct options *options, struct db **ret_db, struct recovered *ret);

/* Opens the run as cmd_open_run() does, calls `show`, and returns its status, or CMD_ERROR. */
int cmd_on_run(const struct options *options,
	       int (*show)(const struct options *options, struct db *db));

/* Prints that the open run cannot be read, and returns CMD_ERROR. */
int cmd_fail_read(const struct options *options, int error);

bool cmd_is_same_file(const char *a, const char *b);

/* Returns the part of a run that the options choose, of one loader. */
static inline struct batch_filter cmd_filter(const struct options *options, int64_t loader_id)
{
	return (struct batch_filter){.loader_id = loader_id,
				     .epoch = options->epoch,
				     .first = options->first,
				     .last = options->last};
}

/* Checks that the run has the rank and the loader that the options name. 0 or CMD_ERROR. */
int cmd_check_filter(const struct options *options, const struct run_info *run,
		     const struct loader_info *loaders, size_t count);

/*
 * Returns CMD_ERROR, after printing which batches a loader has, if --epoch and --batches select
 * none. Returns 0 otherwise.
 */
int cmd_check_part(const struct options *options, const struct loader_info *loader);

/* The file that a command writes. */
struct output {
	FILE *file;
	const char *path; /* path of the output; NULL: stdout */
	bool made;        /* dlprof made the file, and removes it if it cannot be completed */
	char part[4096];  /* path of the file until it is complete and renamed; "": none */
};

/* Opens the output, but never the run itself, and an existing file only with --force. */
int cmd_open_output(const struct options *options, struct output *ret);

/* Closes the output, and checks that all was written. Returns `status`, or CMD_ERROR. */
int cmd_close_output(struct output *output, int status);

/* Returns the page for an output, as its terminal and the options require. */
struct page cmd_page(const struct options *options, const struct output *output);

/* Opens the output, calls `put` (0 or -errno), and closes it. Returns `status`, or CMD_ERROR. */
int cmd_show(const struct options *options,
	     int (*put)(const struct options *options, const void *what, const struct page *page),
	     const void *what, int status);
