/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forks.c - children of a process whose threads all read at the moment of the fork.
 *
 * fork(), _Fork() and vfork() take turns; children of fork() and _Fork() read too. The exit status
 * is the number of children that did not end as they should.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREAD_COUNT 8

static atomic_bool done;

static int use_files(void)
{
	char bytes[64];
	int fd = open("data", O_RDONLY), good;
	FILE *file = fopen("data", "r");

	good = fd >= 0 && file && read(fd, bytes, sizeof(bytes)) == sizeof(bytes) &&
	       fread(bytes, 1, sizeof(bytes), file) == sizeof(bytes);
	if (file)
		fclose(file);
	close(fd);
	return good ? 0 : 1;
}

/* Reads without stdio, since a child of _Fork() may not take stdio's locks. */
static int use_descriptors(void)
{
	char bytes[64];
	int fd = open("data", O_RDONLY);
	int good = read(fd, bytes, sizeof(bytes)) == sizeof(bytes);

	close(fd);
	return good ? 0 : 1;
}

static void *work(void *argument)
{
	while (!atomic_load(&done))
		if (use_files())
			abort();
	return argument;
}

int main(int argc, char **argv)
{
	/* volatile: vfork() may clobber a variable that is in a register. */
	volatile int rounds = argc > 1 ? atoi(argv[1]) : 100;
	volatile int bad = 0;
	pthread_t threads[THREAD_COUNT];

	for (int i = 0; i < THREAD_COUNT; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < rounds; i++) {
		int status = -1;
		pid_t pid;

		if (i % 3 == 0) {
			pid = fork();
			if (pid == 0)
				_exit(use_files());
		} else if (i % 3 == 1) {
			pid = _Fork();
			if (pid == 0)
				_exit(use_descriptors());
		} else {
			pid = vfork();
			if (pid == 0) {
				close(0);
				dup2(1, 0);
				_exit(0);
			}
		}
		bad += pid < 0 || waitpid(pid, &status, 0) != pid || status != 0;
	}
	atomic_store(&done, 1);
	for (int i = 0; i < THREAD_COUNT; i++)
		pthread_join(threads[i], NULL);
	printf("%d bad of %d\n", bad, rounds);
	return bad != 0;
}
