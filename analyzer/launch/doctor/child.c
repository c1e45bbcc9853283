/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/doctor/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drain/base/process.h"

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

/* Returns true if the process is in the session, or is our child. */
static bool is_of(pid_t pid, pid_t session)
{
	struct process_stat stat;

	if (!process_stat_read(pid, &stat) || stat.is_over)
		return false;
	/* The drain and its guard are in the session, but they end by themselves. */
	if (strcmp(stat.name, "dlprof-drain") == 0 || strcmp(stat.name, "dlprof-guard") == 0)
		return false;
	return getsid(pid) == session || (has_adopted && stat.parent == getpid());
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

struct sending {
	int number, count;
};

static void send(pid_t pid, void *context)
{
	struct sending *sending = context;

	kill(pid, sending->number);
	sending->count++;
}

int child_signal(pid_t session, int number)
{
	struct sending sending = {number, 0};

	child_each(session, send, &sending);
	return sending.count;
}

void child_end(pid_t session)
{
	child_signal(session, SIGTERM);
	for (int waited = 0; waited <= 2 * TERM_MS; waited += PAUSE_MS) {
		waitpid(session, NULL, WNOHANG);
		if (!child_signal(session, waited < TERM_MS ? 0 : SIGKILL))
			return;
		poll(NULL, 0, PAUSE_MS);
	}
}
