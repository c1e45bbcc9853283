/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storms.c - thousands of children, made in every way, of a process whose threads record.
 *
 * usage: storms COUNT PAUSE_US: 8 threads open and read "thread-data" and pause that long; main()
 * makes the children, each of which opens "child-data" and ends with a status of its own.
 *        storms exit STATUS: what the children that exec() become.
 *
 * Prints only what is the same in each run: how many children ended with a wrong status, whether
 * any is left, and the numbers of descriptors and threads before and after.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREAD_COUNT 8
#define STACK_BYTES 65536

extern char **environ;

static atomic_bool done;
static long pause_us;
static char own_path[256];

static int open_and_read(const char *name)
{
	char bytes[64];
	int fd = open(name, O_RDONLY);
	int good = fd >= 0 && read(fd, bytes, sizeof(bytes)) == sizeof(bytes) &&
		   pread(fd, bytes, sizeof(bytes), 7) == sizeof(bytes);

	return close(fd) == 0 && good;
}

static void *work(void *argument)
{
	while (!atomic_load(&done)) {
		if (!open_and_read("thread-data"))
			abort();
		if (pause_us)
			nanosleep(&(struct timespec){.tv_nsec = pause_us * 1000}, NULL);
	}
	return argument;
}

static int entries(const char *path)
{
	DIR *folder = opendir(path);
	int count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

/* Changes descriptors as a shell's or CPython's child does before exec(). */
static void change_descriptors(void)
{
	close(0);
	dup2(1, 0);
	close_range(3, 900, 0);
}

static int end_by_itself(int status)
{
	_exit(open_and_read("child-data") ? status : 255);
}

static int end_after_exec(int status)
{
	char text[16];
	char *arguments[] = {own_path, "exit", text, NULL};

	snprintf(text, sizeof(text), "%d", status);
	change_descriptors();
	execve(own_path, arguments, environ);
	_exit(254);
}

static int end_in_shared_memory(void *argument)
{
	int status = *(int *)argument;

	change_descriptors();
	end_by_itself(status);
	return 0;
}

static pid_t spawn(int status)
{
	char text[16];
	char *arguments[] = {own_path, "exit", text, NULL};
	pid_t pid = -1;

	snprintf(text, sizeof(text), "%d", status);
	return posix_spawn(&pid, own_path, NULL, NULL, arguments, environ) ? -1 : pid;
}

/* Reads a pipe that has the number which a vfork child has just used for a file. */
static int read_pipe(void)
{
	struct iovec part = {(char[4]){0}, 4};
	int ends[2], good;

	good = pipe(ends) == 0 && write(ends[1], "pipe", 4) == 4 && readv(ends[0], &part, 1) == 4;
	close(ends[0]);
	close(ends[1]);
	return good;
}

/* Makes a child in way number `way`; it ends with `status`. noinline: vfork() returns twice. */
__attribute__((noinline)) static pid_t make_child(int way, volatile int status)
{
	static char stack[STACK_BYTES] __attribute__((aligned(16)));
	int copy = status;
	pid_t pid;

	switch (way) {
	case 0:
		pid = fork();
		return pid ? pid : end_by_itself(status);
	case 1:
		pid = _Fork();
		return pid ? pid : end_by_itself(status);
	case 2:
		pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		return pid ? pid : end_by_itself(status);
	case 3:
		pid = vfork();
		return pid ? pid : end_by_itself(status);
	case 4:
		pid = vfork();
		return pid ? pid : end_in_shared_memory(&copy);
	case 5:
		return clone(end_in_shared_memory, stack + STACK_BYTES,
			     CLONE_VM | CLONE_VFORK | SIGCHLD, &copy);
	case 6:
		pid = fork();
		if (pid == 0)
			exit(open_and_read("child-data") ? status : 255);
		return pid;
	case 7:
		return spawn(status);
	case 8:
		pid = fork();
		return pid ? pid : end_after_exec(status);
	default:
		pid = vfork();
		return pid ? pid : end_after_exec(status);
	}
}


/* Returns a child's way; one in ten calls exec(), which takes the most time. */
static int way_of(int number)
{
	return number % 10 == 9 ? 7 + number / 10 % 3 : number % 7;
}

static int storm(int count)
{
	int bad = 0;

	for (int i = 0; i < count; i++) {
		int status = -1, wanted = i % 250;
		pid_t pid = make_child(way_of(i), wanted);

		if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
		    WEXITSTATUS(status) != wanted || !read_pipe()) {
			bad++;
			fprintf(stderr, "child %d, way %d: pid %d, status %x\n", i, way_of(i),
				(int)pid, (unsigned int)status);
		}
	}
	return bad;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREAD_COUNT];
	int fds;

	if (argc != 3)
		return 2;
	if (strcmp(argv[1], "exit") == 0)
		return open_and_read("child-data") ? atoi(argv[2]) : 255;
	if (readlink("/proc/self/exe", own_path, sizeof(own_path) - 1) <= 0)
		return 2;
	pause_us = atol(argv[2]);
	fds = entries("/proc/self/fd");
	/* The main thread gets a slot too, which vfork children then share with it.
	 */
	if (!open_and_read("thread-data"))
		return 2;
	for (int i = 0; i < THREAD_COUNT; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	printf("%d bad\n", storm(atoi(argv[1])));
	printf("%d threads\n", entries("/proc/self/task") - 2);
	atomic_store(&done, 1);
	for (int i = 0; i < THREAD_COUNT; i++)
		pthread_join(threads[i], NULL);
	printf("children left: %d\n", waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD);
	printf("descriptors %d, were %d\n", entries("/proc/self/fd"), fds);
	return 0;
}
