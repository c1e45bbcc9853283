/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - dlprof-report: parses the command line, runs the command, exits with its status. */
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/names.h"
#include "report/ranks.h"
#include "store/database/db_open.h"
#include "store/database/redact.h"

static int print(const struct options *options)
{
	struct output output = {.file = stdout};

	if (options->line.help)
		line_help(&options_program, options->verb == VERB_REPORT ? -1 : (int)options->verb,
			  output.file);
	else
		fputs("dlprof-report " DLPROF_VERSION "\n", output.file);
	return cmd_close_output(&output, CMD_DONE);
}

struct candidate {
	const char *path;
	struct timespec written;
};

static int by_time(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;

	if (left->written.tv_sec != right->written.tv_sec)
		return left->written.tv_sec > right->written.tv_sec ? -1 : 1;
	if (left->written.tv_nsec != right->written.tv_nsec)
		return left->written.tv_nsec > right->written.tv_nsec ? -1 : 1;
	return strcmp(left->path, right->path);
}

/* Returns when a run was last written. A live run's newest records are in its -wal. */
static struct timespec when_written(const char *path)
{
	struct timespec newest = {0};
	char beside[PATH_MAX + 8];
	struct stat status;

	if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
		newest = status.st_mtim;
	snprintf(beside, sizeof(beside), "%s-wal", path);
	if (newest.tv_sec && stat(beside, &status) == 0 &&
	    (status.st_mtim.tv_sec > newest.tv_sec ||
	     (status.st_mtim.tv_sec == newest.tv_sec && status.st_mtim.tv_nsec > newest.tv_nsec)))
		newest = status.st_mtim;
	return newest;
}

/* Returns true if the file is a run's database. It may be empty. */
static bool is_run(const char *path)
{
	struct db *db;
	int r = db_open_read(path, &db);

	if (r == 0)
		db_close(db);
	return r != -EBADMSG && r != -EMEDIUMTYPE && r != -EACCES && r != -ENOENT;
}

static int choose(const struct names *names, const char **ret)
{
	struct candidate *candidates = calloc(names->count + 1, sizeof(*candidates));
	int r = candidates ? -ENOENT : -ENOMEM;

	for (size_t i = 0; candidates && i < names->count; i++)
		candidates[i] = (struct candidate){names->list[i], when_written(names->list[i])};
	if (candidates)
		qsort(candidates, names->count, sizeof(*candidates), by_time);
	for (size_t i = 0; r == -ENOENT && i < names->count; i++) {
		if (!candidates[i].written.tv_sec || !is_run(candidates[i].path))
			continue;
		*ret = candidates[i].path;
		r = 0;
	}
	free(candidates);
	return r;
}

/* Takes the newest run in this folder. The caller frees *run, also after an error. */
static int take_newest(struct options *options, char **run)
{
	const char *path = NULL;
	struct names names;
	int r = names_list(".", NAMES_RUN, &names);

	r = r == -ENOMEM ? r : choose(&names, &path);
	*run = r == 0 ? strdup(path + strlen("./")) : NULL;
	names_done(&names);
	if (r == -ENOENT)
		return cmd_fail(
			"no run is named, and there is none in this folder: dlprof-report %s",
			options_program.verbs[VERB_REPORT].arguments);
	if (!*run)
		return cmd_fail("%s", db_error(-ENOMEM));
	options->runs = run;
	options->run_count = 1;
	options->run = *run;
	cmd_remark(options, "the newest run here: %s", redact(REDACT_RUN, *run));
	return 0;
}

static int show_one(const struct options *options, const struct rank_files *files)
{
	const struct rank_file *file = files ? ranks_find(options, files) : NULL;
	struct options one = *options;

	if (files && !file)
		return CMD_ERROR;
	one.run = file ? file->path : options->run;
	return options->verb == VERB_HTML ? cmd_html(&one) : cmd_report(&one);
}

static int show(const struct options *options)
{
	struct rank_files files;
	int status;

	if (options->verb == VERB_HTML && !options->output && isatty(STDOUT_FILENO))
		return cmd_fail("HTML is not for a terminal: use -o REPORT.html, | or >");
	if (!ranks_are_meant(options))
		return show_one(options, NULL);
	status = ranks_list(options, &files);
	if (!status && options->rank >= 0 && ranks_job_end(&files, 0) < files.count)
		status = cmd_fail("'%s' holds several jobs or attempts; --job ID chooses one",
				  options->run);
	if (!status)
		status = files.count == 1 || options->rank >= 0 ? show_one(options, &files)
								: cmd_ranks(options, &files);
	ranks_done(&files);
	return status;
}

int main(int argc, char **argv)
{
	static int (*const commands[VERB_MAX])(const struct options *options) = {
		[VERB_REPORT] = show,         [VERB_BATCHES] = cmd_batches,
		[VERB_COMPARE] = cmd_compare, [VERB_GATE] = cmd_gate,
		[VERB_HTML] = show,           [VERB_IMPORT] = cmd_import,
		[VERB_TRACE] = cmd_trace,     [VERB_EXPORT] = cmd_export,
		[VERB_TOP] = cmd_top,         [VERB_FOLD] = cmd_fold,
		[VERB_SQL] = cmd_sql,
	};
	struct options options;
	char *newest = NULL;
	int status = 0;

	setlocale(LC_CTYPE, ""); /* only LC_CTYPE: numbers stay as in the locale "C" */
	if (options_parse(&options, argc, argv) < 0)
		return cmd_fail("%s", options.line.problem);
	if (options.line.help || options.line.version)
		return print(&options);
	if (options.explain)
		return cmd_explain(&options);
	if (options.redact)
		redact_begin();
	if (!options.run_count && options.verb != VERB_SQL)
		status = take_newest(&options, &newest);
	if (!status)
		status = commands[options.verb](&options);
	free(newest);
	return status;
}
