/* SPDX-License-Identifier: Apache-2.0 */
/* common.c - functions that all fakes use. Each fake library is linked with a copy of its own. */
#include "common.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

const char *knob_text(const char *name)
{
	char full[64];

	snprintf(full, sizeof(full), "FAKE_%s", name);
	return getenv(full);
}

long knob(const char *name, long otherwise)
{
	const char *value = knob_text(name);

	return value && *value ? strtol(value, NULL, 0) : otherwise;
}

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

void read_settings(const char *path)
{
	const char *paths[] = {"/proc/self/maps", "/proc/cpuinfo", path};
	char line[4096];

	for (size_t i = 0; i < 3; i++) {
		FILE *file = paths[i] ? fopen(paths[i], "r") : NULL;

		while (file && fread(line, 1, sizeof(line), file) > 0)
			;
		if (file)
			fclose(file);
	}
}

void sleep_until(uint64_t ns)
{
	const struct timespec end = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};

	while (now_ns() < ns)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
}

uint32_t thread_id(void)
{
	static __thread pid_t process;
	static __thread uint32_t id;

	if (process != getpid()) {
		process = getpid();
		id = (uint32_t)syscall(SYS_gettid);
	}
	return id;
}

void call_log(const char *format, ...)
{
	const char *path = knob_text("LOG");
	char line[512];
	va_list arguments;
	int length, fd;

	if (!path)
		return;
	length = snprintf(line, sizeof(line), "%llu %d %u ", (unsigned long long)now_ns(), getpid(),
			  thread_id());
	va_start(arguments, format);
	length += vsnprintf(line + length, sizeof(line) - (size_t)length - 1, format, arguments);
	va_end(arguments);
	if (length > (int)sizeof(line) - 2)
		length = sizeof(line) - 2;
	line[length++] = '\n';
	/* A single write() for each line, so that lines of processes do not mix. */
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	if (write(fd, line, (size_t)length) != length)
		fprintf(stderr, "fakes: cannot write the log\n");
	close(fd);
}
