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
	CMD_ERROR = TERMINAL_ERROR, /* wrong usage, or an unreadable file */
	CMD_CANNOT_SAY = 3,         /* too few batches, or runs that cannot be compared */
};

struct rank_files;

/* Each runs a verb, and returns an exit status. cmd_report() and cmd_html() show options->run. */
int cmd_ranks(const struct options *options, const struct rank_files *files);

struct batch_series;
struct rank_job;
struct rank_row;

struct rank_look {
	struct db *db;
	const struct run_info *run;
	const struct rank_row *row;
	const struct batch_series *series;
	int64_t loader_id; /* -1: the rank has no loader */
};

struct jobs {
	const char *path;
	struct ranks *list;
	size_t count;
};
/* Judges the ranks of a job. Calls `look` (if not NULL) for each rank. Returns 0 or CMD_ERROR. */
typedef int rank_looker(const struct rank_look *look, void *context);
int cmd_read_ranks(const struct options *options, const struct rank_files *files,
		   struct rank_job *job, struct rank_row *rows, rank_looker *look, void *context);
int cmd_show_jobs(const struct options *options, struct jobs *jobs);
void cmd_ranks_free(struct ranks *ranks);

int cmd_batches(const struct options *options);
int cmd_compare(const struct options *options);
int cmd_html(const struct options *options);
int cmd_report(const struct options *options);
int cmd_import(const struct options *options);
int cmd_trace(const struct options *options);
int cmd_export(const struct options *options);
int cmd_lake(const struct options *options);
int cmd_top(const struct options *options);
int cmd_explain(const struct options *options);
int cmd_fold(const struct options *options);
int cmd_gate(const struct options *options);
int cmd_sql(const struct options *options);

/* Prints one line on stderr, and returns CMD_ERROR. */
#define cmd_fail(...) terminal_say("dlprof-report", __VA_ARGS__)

#define cmd_remark(options, ...) ((void)((options)->quiet || cmd_fail(__VA_ARGS__)))

/* Says what a run lacks if drain_recover() gave `error`; says nothing if that is 0. */
void cmd_remark_missing(const struct options *options, const char *path, int error,
			const struct recovered *recovered);

/* Stores a run's last records, opens it, and prints what is missing. Returns 0 or CMD_ERROR. */
int cmd_open_run(const struct options *options, struct db **ret_db, struct recovered *ret);

int cmd_on_run(const struct options *options,
	       int (*show)(const struct options *options, struct db *db));

int cmd_fail_read(const struct options *options, int error);

bool cmd_is_same_file(const char *a, const char *b);

static inline struct batch_filter cmd_filter(const struct options *options, int64_t loader_id)
{
	return (struct batch_filter){.loader_id = loader_id,
				     .epoch = options->epoch,
				     .first = options->first,
				     .last = options->last};
}

/* Checks that the run has the rank and the loader that the options name. Returns 0 or CMD_ERROR. */
int cmd_check_filter(const struct options *options, const struct run_info *run,
		     const struct loader_info *loaders, size_t count);

/* Fails, and says why, if the loader has no batches because of --epoch or --batches. */
int cmd_check_part(const struct options *options, const struct loader_info *loader);

struct output {
	FILE *file;
	const char *path; /* NULL: stdout */
	bool made;        /* no such file existed before: remove it if it stays unfinished */
	char part[4096];  /* path of the file until it is complete; "": `path` itself */
};

/* Opens the output of -o. Only --force replaces a file, and nothing replaces the run itself. */
int cmd_open_output(const struct options *options, struct output *ret);

/* Closes the output. Returns `status`; CMD_ERROR if something could not be written. */
int cmd_close_output(struct output *output, int status);

struct page cmd_page(const struct options *options, const struct output *output);

/* Opens the output, calls `put` (which returns 0 or -errno), and closes the output. */
int cmd_show(const struct options *options,
	     int (*put)(const struct options *options, const void *what, const struct page *page),
	     const void *what, int status);
