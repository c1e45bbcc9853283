/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_demo.c - `dlprof demo PATTERN`: records a simulated training, then becomes dlprof-report. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/cmd.h"
#include "launch/scene.h"
#include "line/near.h"
#include "render/form/facts.h"

static int list(const struct launch_options *options)
{
	const struct page page = launch_page(options);
	struct jsonw writer, *json = &writer;

	if (options->json) {
		jsonw_begin(json, stdout, "dlprof.demo/1");
#include "launch/demo/demo.def"
		jsonw_close(json, '}');
		return launch_close(LAUNCH_DONE);
	}
	page_line(&page, "dlprof demo PATTERN, a few seconds each:");
	for (size_t i = 0; i < SCENE_COUNT; i++)
		page_entry(&page, 2, 17, SCENES[i].name, "%s", SCENES[i].about);
	return launch_close(LAUNCH_DONE);
}

static int refuse(const char *pattern)
{
	struct near near = {pattern, strlen(pattern)};
	char words[NEAR_WORDS];

	for (size_t i = 0; i < SCENE_COUNT; i++)
		near_try(&near, SCENES[i].name);
	near_words(&near, "", words);
	return launch_fail("there is no pattern '%s'%s%s", pattern, words,
			   *words ? "" : "; dlprof demo lists them");
}

int cmd_demo_simulate(const char *pattern)
{
	const struct scene *scene = scene_find(pattern);
	int r = scene ? simulate(scene) : -EINVAL;

	return r < 0 ? launch_fail("the simulation failed: %s", strerror(-r)) : LAUNCH_DONE;
}

static void become_simulation(const struct preload *preload, const char *database,
			      const char *pattern)
{
	char *const argv[] = {(char[]){DEMO_PROGRAM}, (char *)pattern, NULL};

	for (size_t i = 0; launch_settings[i]; i++)
		if (strcmp(launch_settings[i], "DLPROF_SEGMENT_DIR") != 0)
			unsetenv(launch_settings[i]);
	setenv("DLPROF_OUT", database, 1);
	setenv("DLPROF_QUIET", "1", 1);
	if (preload_set(preload, &preload->image) == 0)
		execv("/proc/self/exe", argv);
	_exit(LAUNCH_NOT_FOUND);
}

static int record(const struct preload *preload, const struct scene *scene, const char *database)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return launch_fail("cannot start a process: %s", strerror(errno));
	if (!pid)
		become_simulation(preload, database, scene->name);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return launch_fail("the simulation was lost: %s", strerror(errno));
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return launch_fail("the simulation ended early");
	if (access(database, F_OK) < 0)
		return launch_fail("nothing was recorded into '%s'; dlprof doctor may say why",
				   database);
	return 0;
}

static int become_report(const struct launch_options *options, const char *database)
{
	char *argv[6] = {"dlprof-report"};
	struct trust_search program;
	int argc = 1, r = preload_find_report(&program);

	if (r == -EPERM)
		return launch_fail("'%s' is not run, since it %s; '%s' holds the run", program.path,
				   trust_text(program.trust), database);
	if (options->json)
		argv[argc++] = "--json";
	if (options->ascii)
		argv[argc++] = "--ascii";
	if (options->quiet)
		argv[argc++] = "--quiet";
	argv[argc] = (char *)database;
	if (r == 0) {
		execv(program.path, argv);
		r = -errno;
	}
	return launch_fail("cannot run dlprof-report: %s; '%s' holds the run", strerror(-r),
			   database);
}

int cmd_demo(const struct launch_options *options)
{
	const struct page page = launch_page(options);
	const struct scene *scene;
	struct preload preload;
	char database[PATH_MAX];
	int r;

	if (!options->command[0])
		return list(options);
	scene = scene_find(options->command[0]);
	if (!scene)
		return refuse(options->command[0]);
	r = launch_find_library(options, &preload);
	if (r)
		return r;
	snprintf(database, sizeof(database), "%s/dlprof-demo-%s-%d.db", launch_temporary(),
		 scene->name, (int)getpid());
	if (options->output)
		snprintf(database, sizeof(database), "%s", options->output);
	if (access(database, F_OK) == 0)
		return launch_fail("'%s' exists; name another file with -o", database);
	if (!options->json) {
		page_entry(&page, 0, 2, "", "%s: %s It is being simulated.", scene->name,
			   scene->about);
		page_break(&page);
		fflush(stdout);
	}
	r = record(&preload, scene, database);
	return r ? r : become_report(options, database);
}
