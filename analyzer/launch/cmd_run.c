/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_run.c - `dlprof run CMD...`: set the environment, run the command, print its report. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlprof/units.h"
#include "launch/attend.h"
#include "launch/cmd.h"
#include "launch/runs.h"

extern char **environ;

/* The options that are variables. 0 or -errno. */
static int set_options(const struct launch_options *options)
{
	char slow_us[24];
	const struct {
		const char *name, *value;
	} settings[] = {
		{"DLPROF_OUT", options->output},
		{"DLPROF_DETAIL", options->detail},
		{"DLPROF_BATCH_FN", options->batch_fn},
		{"DLPROF_CUDA", options->cuda},
		{"DLPROF_SEGMENT_DIR", options->segment_dir},
		{"DLPROF_LOG", options->log},
		{"DLPROF_SLOW_US", options->slow_us < 0 ? NULL : slow_us},
		{"DLPROF_ACTIVATE", options->always ? "always" : NULL},
		{"DLPROF_QUIET", options->quiet ? "1" : NULL},
	};

	snprintf(slow_us, sizeof(slow_us), "%lld", (long long)options->slow_us);
	for (size_t i = 0; i < ARRAY_COUNT(settings); i++)
		if (settings[i].value && setenv(settings[i].name, settings[i].value, 1) < 0)
			return -errno;
	return 0;
}

/* Otherwise a wrong folder would be reported only when the training ends, too late. */
static int check_output(const char *path)
{
	char folder[PATH_MAX];
	int r = launch_output_folder(path, folder, sizeof(folder));

	return r < 0 ? launch_fail("cannot write '%s': '%s': %s; name another with -o", path,
				   folder, strerror(-r))
		     : 0;
}

/* Words in quotes where a shell would want them. */
static void print_word(const char *word)
{
	if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"0123456789%+,-./:=@_")]) {
		fputs(word, stdout);
		return;
	}
	putchar('\'');
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*word);
	}
	putchar('\'');
}

static bool is_ours(const char *entry)
{
	return strncmp(entry, "DLPROF_", 7) == 0 || strncmp(entry, "LD_PRELOAD=", 11) == 0 ||
	       strncmp(entry, "CUDA_INJECTION64_PATH=", 22) == 0;
}

static int print_command(char **command)
{
	fputs("env", stdout);
	for (char **entry = environ; *entry; entry++) {
		if (!is_ours(*entry))
			continue;
		fputs(" \\\n  ", stdout);
		print_word(*entry);
	}
	fputs(" \\\n ", stdout);
	for (; *command; command++) {
		putchar(' ');
		print_word(*command);
	}
	putchar('\n');
	return launch_close(LAUNCH_DONE);
}

static bool is_python_script(const char *name)
{
	size_t length = strlen(name);

	return length > 3 && strcmp(name + length - 3, ".py") == 0;
}

static int fail_run(const struct launch_options *options, int error)
{
	const char *name = options->command[0];

	launch_fail(is_python_script(name)
			    ? "cannot run '%s': %s; did you mean: dlprof run python %s"
			    : "cannot run '%s': %s",
		    name, strerror(error), name);
	return error == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_CANNOT_RUN;
}

/* If each rank of a job has a launcher of its own, only the first prints. */
static bool is_first_rank(void)
{
	static const char *const names[] = {
#define RANK(name) #name,
#include "dlprof/job.def"
	};

	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcmp(value, "0") == 0;
	}
	return true;
}

static bool is_quiet(const struct launch_options *options)
{
	const char *value = getenv("DLPROF_QUIET");

	return options->quiet || (value && strcmp(value, "1") == 0);
}

/* Prints the report, then ends as the command did. */
static int run_and_report(const struct launch_options *options)
{
	struct runs runs;
	int status, r;

	if (runs_begin(&runs) < 0) {
		execvp(options->command[0], options->command);
		return fail_run(options, errno);
	}
	r = attend(options->command, &status);
	if (r < 0) {
		runs_drop(&runs);
		return fail_run(options, -r);
	}
	runs_report(&runs);
	attend_end(status);
}

int cmd_run(const struct launch_options *options)
{
	enum target_problem problem;
	struct preload preload;
	struct target target;
	int r;

	r = launch_find_library(options, &preload);
	if (!r && options->output)
		r = check_output(options->output);
	if (r)
		return r;
	r = target_find(options->command[0], &target);
	if (r == -ENOENT)
		return fail_run(options, ENOENT);
	problem = r < 0 ? TARGET_FINE : target_problem(&target, &preload.image);
	if (problem)
		launch_remark(options, "nothing will be recorded: '%s' %s; %s", target.path,
			      target_problem_text(problem), target_problem_fix(problem));
	r = set_options(options);
	if (r == 0)
		r = preload_set(&preload, &target);
	if (r < 0)
		return launch_fail("cannot set the environment: %s", strerror(-r));
	if (options->dry_run)
		return print_command(options->command);
	if (!options->exec && !is_quiet(options) && is_first_rank())
		return run_and_report(options);
	execvp(options->command[0], options->command);
	return fail_run(options, errno);
}
