/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - dlprof-drain, started by the first recording process of a run; ends after the last. */
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dlprof/units.h"
#include "drain/drain.h"
#include "store/database/db_open.h"

/*
 * Gives up what the drain inherited from the process that started it: `train.py | tee` would wait
 * as long as the drain had the pipe open. The drain stays in that process's session, since Linux
 * schedules by session (autogroup): in a session of its own, a drain got no core for seconds while
 * the training used all cores.
 */
static void leave_host(void)
{
	static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXFSZ, SIGTTOU};
	sigset_t none;
	int null;

	setpgid(0, 0);
	/* glibc before 2.34 has no function for this system call. */
	if (syscall(SYS_close_range, 0, ~0U, 0) < 0)
		for (int fd = 0; fd < 65536; fd++)
			close(fd);
	null = open("/dev/null", O_RDWR);
	if (null >= 0) {
		dup2(null, 1);
		dup2(null, 2);
	}
	/* SIGTERM ends a job's processes. The drain ignores it, and ends after them. */
	for (size_t i = 0; i < ARRAY_COUNT(ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (chdir("/") < 0)
		return; /* the host's working folder stays in use */
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "dlprof-drain: internal; libdlprof.so starts it with a folder of "
				"segments and a database\n");
		return 2;
	}
	leave_host();
	db_be_lean();
	return drain_run(argv[1], argv[2]) < 0 ? 1 : 0;
}
