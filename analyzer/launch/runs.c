/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/runs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/cmd.h"

#define RUNS_MAX  64
#define STORED_MS 10000 /* longest wait for the drain, which needs 100 ms, or more on slow disks */
#define PAUSE_MS  10

struct run {
	char *folder; /* folder of segments; the drain removes it when the run is stored */
	char *database;
};

int runs_begin(struct runs *runs)
{
	int fd, r = 0;

	snprintf(runs->list, sizeof(runs->list), "%s/dlprof-runs-XXXXXX", launch_temporary());
	fd = mkostemp(runs->list, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	close(fd);
	if (setenv("DLPROF_RUNS", runs->list, 1) < 0)
		r = -errno;
	if (r < 0)
		runs_drop(runs);
	return r;
}

void runs_drop(struct runs *runs)
{
	unlink(runs->list);
	unsetenv("DLPROF_RUNS");
}

/* Reads pairs "FOLDER\0DATABASE\0", which shim/record/run.c wrote: paths have any byte but 0. */
static int read_list(const char *path, struct run *runs)
{
	FILE *file = fopen(path, "re");
	size_t sizes[2] = {0};
	int count = 0;
	char *words[2] = {NULL};

	while (file && count < RUNS_MAX && getdelim(&words[0], &sizes[0], '\0', file) > 0 &&
	       getdelim(&words[1], &sizes[1], '\0', file) > 0) {
		runs[count++] = (struct run){words[0], words[1]};
		words[0] = words[1] = NULL;
		sizes[0] = sizes[1] = 0;
	}
	free(words[0]);
	free(words[1]);
	if (file)
		fclose(file);
	return count;
}

static void free_all(struct run *runs, int count)
{
	for (int i = 0; i < count; i++) {
		free(runs[i].folder);
		free(runs[i].database);
	}
}

int runs_wait_stored(const char *folder, int most_ms)
{
	int left_ms = most_ms;

	for (; left_ms > 0 && access(folder, F_OK) == 0; left_ms -= PAUSE_MS)
		poll(NULL, 0, PAUSE_MS);
	return left_ms;
}

static char *short_path(char *path)
{
	char here[PATH_MAX];
	size_t length;

	if (!getcwd(here, sizeof(here)))
		return path;
	length = strlen(here);
	return strncmp(path, here, length) == 0 && path[length] == '/' ? path + length + 1 : path;
}

int runs_show(const struct trust_search *program, char *const argv[], int output)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		dup2(output, STDOUT_FILENO);
		dup2(output, STDERR_FILENO);
		execv(program->path, argv);
		_exit(LAUNCH_NOT_FOUND);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -ECHILD;
}

static int report(const struct trust_search *program, const struct run *runs, int count, int output)
{
	char *argv[RUNS_MAX + 2] = {"dlprof-report"};
	int argc = 1;

	for (int i = 0; i < count; i++)
		if (access(runs[i].database, F_OK) == 0)
			argv[argc++] = short_path(runs[i].database);
	/* Runs without a database are left out: libdlprof.so said at exit where they are. */
	return argc > 1 ? runs_show(program, argv, output) : 0;
}

/* Reports on all ranks of a job. If the runs are not one job, reports on the last run. */
static void report_all(const struct trust_search *program, const struct run *runs, int count)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (count > 1 && report(program, runs, count, null) == LAUNCH_ERROR) {
		launch_fail("%d runs were recorded; this is the last one", count);
		runs += count - 1;
		count = 1;
	}
	report(program, runs, count, STDERR_FILENO);
	if (null >= 0)
		close(null);
}

static int take(struct runs *runs, struct run *ret)
{
	int count = read_list(runs->list, ret), left_ms = STORED_MS;

	runs_drop(runs);
	for (int i = 0; i < count; i++)
		left_ms = runs_wait_stored(ret[i].folder, left_ms);
	return count;
}

void runs_take(struct runs *runs, void (*each)(const char *database, void *context), void *context)
{
	struct run found[RUNS_MAX];
	int count = take(runs, found);

	for (int i = 0; i < count; i++)
		each(found[i].database, context);
	free_all(found, count);
}

void runs_report(struct runs *runs)
{
	struct run found[RUNS_MAX];
	struct trust_search program;
	int count = take(runs, found);

	if (!count)
		return;
	if (preload_find_report(&program) == 0)
		report_all(&program, found, count);
	else
		launch_fail("dlprof-report is not beside dlprof; '%s' holds the run",
			    found[count - 1].database);
	free_all(found, count);
}
