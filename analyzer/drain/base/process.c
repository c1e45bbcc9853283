/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/base/process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "dlprof/units.h"

#ifndef SYS_close_range
#define SYS_close_range 436 /* missing in the headers of Linux before 5.9 */
#endif

enum {
	FIELD_STATE = 3,
	FIELD_PARENT = 4,
	FIELD_FAULTS = 12,
	FIELD_USER = 14,
	FIELD_SYSTEM = 15,
	FIELD_CHILDREN_USER = 16,
	FIELD_CHILDREN_SYSTEM = 17,
	FIELD_NICE = 19,
	FIELD_THREADS = 20,
	FIELD_START = 22,
	FIELD_MEMORY = 23,
	FIELD_EXIT = 52,
	FIELD_COUNT
};

/* Reads a file with plain system calls: stdio is too slow for all processes of a machine. */
size_t process_file_read(int32_t pid, const char *name, char *text, size_t size)
{
	char path[320];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/%s", pid, name);
	text[0] = '\0';
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	length = read(fd, text, size - 1);
	close(fd);
	if (length < 0)
		length = 0;
	text[length] = '\0';
	return (size_t)length;
}

bool process_line(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	bool found;

	if (!file)
		return false;
	found = fgets(text, (int)size, file) != NULL;
	fclose(file);
	return found;
}

static bool read_stat(int32_t pid, const char *name, struct process_stat *ret)
{
	const long rate = sysconf(_SC_CLK_TCK);
	const int64_t tick_ns = rate > 0 ? (int64_t)NS_PER_S / rate : 0;
	long long fields[FIELD_COUNT] = {0};
	const char *begin;
	char text[1024], *at;
	int last;

	process_file_read(pid, name, text, sizeof(text));
	/* The line is like "12 (name) S ...", and the name may hold anything, also brackets. */
	begin = strchr(text, '(');
	at = strrchr(text, ')');
	if (!begin || !at || at < begin || !tick_ns || strlen(at) < 3)
		return false;
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)(at - begin - 1), begin + 1);
	ret->is_over = at[2] == 'Z' || at[2] == 'X';
	at += 3;
	last = ret->is_over ? FIELD_EXIT : FIELD_MEMORY;
	for (int i = FIELD_STATE + 1; i <= last; i++)
		fields[i] = strtoll(at, &at, 10);
	if (*at != ' ' && *at != '\n')
		return false;
	ret->major_faults = fields[FIELD_FAULTS];
	ret->nice = (int)fields[FIELD_NICE];
	ret->threads = (int)fields[FIELD_THREADS];
	ret->start_ticks = (uint64_t)fields[FIELD_START];
	ret->has_memory = fields[FIELD_MEMORY] > 0;
	ret->exit_status = (int)fields[FIELD_EXIT];
	ret->parent = (int32_t)fields[FIELD_PARENT];
	ret->used_ns = (fields[FIELD_USER] + fields[FIELD_SYSTEM]) * tick_ns;
	ret->children_ns =
		(fields[FIELD_CHILDREN_USER] + fields[FIELD_CHILDREN_SYSTEM]) * tick_ns;
	return true;
}

bool process_stat_read(int32_t pid, struct process_stat *ret)
{
	return read_stat(pid, "stat", ret);
}

bool process_thread_read(int32_t pid, const char *tid, struct process_stat *ret)
{
	char name[300];

	snprintf(name, sizeof(name), "task/%s/stat", tid);
	return read_stat(pid, name, ret);
}

void process_close_from(int first)
{
	/* glibc has a function for this system call only since 2.34. */
	if (syscall(SYS_close_range, first, ~0U, 0) < 0)
		for (int fd = first; fd < 65536; fd++)
			close(fd);
}

int64_t process_used_ns(int32_t pid, const struct process_stat *stat)
{
	/* stat->used_ns may be two ticks too low: user and system time are each rounded down. */
	const int64_t most_ns =
		stat->used_ns + 2 * ((int64_t)NS_PER_S / sysconf(_SC_CLK_TCK));
	struct timespec used;
	clockid_t clock;
	int64_t ns;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) < 0)
		return stat->used_ns;
	ns = (int64_t)used.tv_sec * (int64_t)NS_PER_S + used.tv_nsec;
	/* If the clock says less than /proc, the two speak of different processes with this pid. */
	if (ns < stat->used_ns)
		return stat->used_ns;
	return ns < most_ns ? ns : most_ns;
}
