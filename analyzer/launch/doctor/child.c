/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/doctor/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define TERM_MS  3000
#define PAUSE_MS 50

static void become(const struct doctor *doctor, const struct child *child)
{
	int null = open("/dev/null", O_RDWR), output = child->is_silent ? null : STDERR_FILENO;
	struct target target;

	setsid();
	dup2(null, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	if (target_find(child->argv[0], &target) < 0)
		target = (struct target){.elf_class = 0};
	setenv("DLPROF_OUT", doctor->database, 1);
	setenv("DLPROF_QUIET", "1", 1);
	preload_set(&doctor->preload, &target);
	if (child->file)
		execv(child->file, child->argv);
	else
		execvp(child->argv[0], child->argv);
	_exit(127);
}

pid_t child_start(const struct doctor *doctor, const struct child *child)
{
	pid_t pid = fork();

	if (!pid)
		become(doctor, child);
	return pid < 0 ? -errno : pid;
}

static bool has_adopted;

void child_adopt(void)
{
	siginfo_t info;

	/* Other children must go on: those of a shell that became this process by exec, or the
	 * orphans of a container, if this is process 1. */
	has_adopted = getpid() != 1 && waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* Returns true if a process is of the session or our child. In `stat`, ")" follows its name. */
static bool is_of(pid_t pid, pid_t session)
{
	char path[64], text[512], *at;
	int parent = -1, its = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	at = fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
	/* The drain and its guard are in the session, but they end by themselves. */
	if (at && at[1] == ' ' && at[2] != 'Z' && !strstr(text, " (dlprof-drain) ") &&
	    !strstr(text, " (dlprof-guard) "))
		sscanf(at + 2, "%*c %d %*d %d", &parent, &its);
	fclose(file);
	return its == session || (has_adopted && parent == getpid());
}

void child_each(pid_t session, void (*each)(pid_t pid, void *context), void *context)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && is_of(pid, session))
			each(pid, context);
	}
	if (folder)
		closedir(folder);
}

static void send(pid_t pid, void *context)
{
	kill(pid, *(int *)context);
}

static void count(pid_t pid, void *context)
{
	++*(int *)context;
}

void child_end(pid_t session)
{
	int signal_number = SIGTERM, left;

	child_each(session, send, &signal_number);
	for (int waited = 0;; waited += PAUSE_MS) {
		waitpid(session, NULL, WNOHANG);
		left = 0;
		child_each(session, count, &left);
		if (!left || waited > 2 * TERM_MS)
			return;
		if (waited >= TERM_MS) {
			signal_number = SIGKILL;
			child_each(session, send, &signal_number);
		}
		poll(NULL, 0, PAUSE_MS);
	}
}
