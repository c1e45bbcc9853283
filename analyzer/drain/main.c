/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - dlprof-drain. A run's first recording process starts it; it ends after the last one. */
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "dlprof/units.h"
#include "drain/base/process.h"
#include "drain/drain.h"
#include "store/database/db_open.h"

/*
 * Gives up what the drain inherited from the process that started it. If the drain kept the pipe of
 * `train.py | tee`, tee would not end before the drain. But the drain stays in that process's
 * session: Linux schedules by session (autogroup), and a drain in a session of its own got no core
 * for seconds while the training used all cores.
 */
static void leave_host(void)
{
	static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXFSZ, SIGTTOU};
	sigset_t none;
	int null;

	setpgid(0, 0);
	process_close_from(0);
	null = open("/dev/null", O_RDWR);
	if (null >= 0) {
		dup2(null, 1);
		dup2(null, 2);
	}
	/* SIGTERM ends all of a job's processes. The drain ignores it, and ends after them. */
	for (size_t i = 0; i < ARRAY_COUNT(ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (chdir("/") < 0)
		return; /* without chdir(), the training's working folder stays in use */
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
