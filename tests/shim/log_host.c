/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_host.c - makes dlprof write a line to its log, and prints what that changed in the program.
 *
 * usage: log_host [pending]
 *
 * "pending": a SIGPIPE and a SIGXFSZ are pending in the thread, and must be so after the line.
 * Prints "ok", or what has changed. The first mark begins the recording, when the program has set
 * its handlers and limits.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "dlprof.h"

static const int watched[] = {SIGPIPE, SIGXFSZ, SIGTTOU};
#define WATCHED_COUNT (sizeof(watched) / sizeof(watched[0]))

static volatile sig_atomic_t raised;

static void on_signal(int number)
{
	raised = number;
}

static void wait_with(int number)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_kill(pthread_self(), number);
}

int main(int argc, char **argv)
{
	sigset_t mask[2], pending[2];

	for (size_t i = 0; i < WATCHED_COUNT; i++)
		signal(watched[i], on_signal);
	if (argc > 1 && strcmp(argv[1], "pending") == 0) {
		wait_with(SIGPIPE);
		wait_with(SIGXFSZ);
	}
	pthread_sigmask(SIG_BLOCK, NULL, &mask[0]);
	sigpending(&pending[0]);
	errno = 77;
	dlprof_mark("begin");
	if (errno != 77)
		printf("errno is %d\n", errno);
	pthread_sigmask(SIG_BLOCK, NULL, &mask[1]);
	sigpending(&pending[1]);
	for (int number = 1; number < 32; number++) {
		if (sigismember(&mask[0], number) != sigismember(&mask[1], number))
			printf("the mask of signal %d changed\n", number);
		if (sigismember(&pending[0], number) != sigismember(&pending[1], number))
			printf("signal %d became pending, or is so no more\n", number);
	}
	if (raised)
		printf("signal %d was raised\n", (int)raised);
	puts("ok");
	return 0;
}
