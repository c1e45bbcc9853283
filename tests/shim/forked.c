/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forked.c - a forked child that records, and has its parent's memory.
 *
 * usage: forked fork|_Fork|forkpty|daemon|orphan. The parent reads "data" in a load and keeps it
 * open. In the child a pipe gets that descriptor's number before the child records; then a thread
 * begins to record that did not fork. Both threads load LOADS batches of READS reads of "data"
 * each, and one of them reads the pipe.
 */
#include <dlfcn.h>
#include <dlprof.h>
#include <fcntl.h>
#include <pthread.h>
#include <pty.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOADS 300
#define READS 20
#define BYTES 100

static atomic_bool begun;

static int read_data(void)
{
	char bytes[BYTES];
	int fd = open("data", O_RDONLY), good = fd >= 0;

	for (int i = 0; i < READS; i++)
		good &= pread(fd, bytes, sizeof(bytes), 0) == sizeof(bytes);
	return close(fd) == 0 && good;
}

static void *load(void *first)
{
	for (int i = 0; i < LOADS; i++) {
		dlprof_load_begin(*(int *)first + i);
		if (!read_data())
			abort();
		dlprof_load_end(*(int *)first + i);
		begun = true;
		usleep(100);
	}
	return NULL;
}

static int child(int fd)
{
	int first = 1000, second = 2000, ends[2];
	pthread_t thread;
	char bytes[8];

	if (close(fd) < 0 || pipe(ends) < 0 || (ends[0] != fd && dup2(ends[0], fd) != fd) ||
	    write(ends[1], "8 bytes", sizeof(bytes)) != sizeof(bytes))
		return 2;
	if (pthread_create(&thread, NULL, load, &first))
		return 3;
	while (!begun)
		usleep(10);
	if (read(fd, bytes, sizeof(bytes)) != sizeof(bytes))
		return 4;
	load(&second);
	pthread_join(thread, NULL);
	return 0;
}

static bool stays_as(const char *how)
{
	return strcmp(how, "daemon") == 0 || strcmp(how, "orphan") == 0;
}

/* Makes a child. With daemon() the parent ends; an orphan begins after its parent's run. */
static pid_t make_child(const char *how)
{
	int terminal;

	if (strcmp(how, "fork") == 0)
		return fork();
	if (strcmp(how, "_Fork") == 0)
		return _Fork();
	if (!stays_as(how))
		return forkpty(&terminal, NULL, NULL, NULL);
	if (daemon(1, 1) < 0)
		return -1;
	while (strcmp(how, "orphan") == 0 && getenv("DLPROF_RUN") &&
	       access(getenv("DLPROF_RUN"), F_OK) == 0)
		usleep(10000);
	return 0;
}

int main(int argc, char **argv)
{
	int fd, status = -1;
	char bytes[BYTES];
	pid_t pid;

	dlprof_load_begin(0);
	fd = open("data", O_RDONLY);
	if (argc != 2 || read(fd, bytes, sizeof(bytes)) != sizeof(bytes))
		return 2;
	dlprof_load_end(0);
	pid = make_child(argv[1]);
	if (pid == 0 && !stays_as(argv[1]))
		_exit(child(fd));
	if (pid == 0)
		status = child(fd);
	else
		waitpid(pid, &status, 0);
	printf("child %x\n", (unsigned int)status);
	return 0;
}
