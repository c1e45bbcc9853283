/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forked_walk.c - forks while other threads load batches, and loads a library in each child.
 *
 * usage: forked_walk [FORKS [forkpty]]. Before a load the shim looks for new modules under a lock
 * of ld.so's. A child that is forked meanwhile has that lock taken for good: dlopen() would hang.
 * forkpty() forks within libc.
 * Prints how many children did not end; without the preload all do.
 */
#include <dlfcn.h>
#include <dlprof.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS	  3
#define PATIENCE_S 5
#define HUNG_MAX  3

static atomic_bool done;

static void *load(void *unused)
{
	for (long number = 0; !done; number++) {
		dlprof_load_begin(number);
		dlprof_load_end(number);
	}
	return unused;
}

/* Loads a small library that every system has and this process has not loaded; then ends. */
static void child(void)
{
	signal(SIGALRM, SIG_DFL);
	alarm(PATIENCE_S);
	_exit(dlopen("libutil.so.1", RTLD_NOW) ? 0 : 1);
}

int main(int argc, char **argv)
{
	int forks = argc > 1 ? atoi(argv[1]) : 400, hung = 0, failed = 0, terminal = -1;
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, load, NULL);
	usleep(100000);
	for (int i = 0; i < forks && hung < HUNG_MAX; i++) {
		pid_t pid = argc > 2 ? forkpty(&terminal, NULL, NULL, NULL) : fork();
		int status = 0;

		if (pid == 0)
			child();
		waitpid(pid, &status, 0);
		if (terminal >= 0)
			close(terminal);
		hung += WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
		failed += WIFEXITED(status) && WEXITSTATUS(status);
	}
	done = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("hung %d, failed %d\n", hung, failed);
	return hung || failed;
}
