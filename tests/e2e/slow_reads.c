/* SPDX-License-Identifier: Apache-2.0 */
/* slow_reads.c - a preload: reads of files whose path has /slow/ in it take SLOW_US longer. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define MOST 4096

static bool is_slow[MOST];

static int note(int fd, const char *path)
{
	if (fd >= 0 && fd < MOST)
		is_slow[fd] = strstr(path, "/slow/");
	return fd;
}

static void nap(int fd)
{
	const char *us = getenv("SLOW_US");
	long ns = us ? atol(us) * 1000 : 0;
	struct timespec time = {ns / 1000000000, ns % 1000000000};

	if (fd >= 0 && fd < MOST && is_slow[fd])
		nanosleep(&time, NULL);
}

#define OPEN(name)                                                                                 \
	int name(const char *path, int flags, ...)                                                 \
	{                                                                                          \
		int (*real)(const char *, int, ...) =                                              \
			(int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name);                  \
		va_list more;                                                                      \
		mode_t mode;                                                                       \
                                                                                                   \
		va_start(more, flags);                                                             \
		mode = va_arg(more, mode_t);                                                       \
		va_end(more);                                                                      \
		return note(real(path, flags, mode), path);                                        \
	}
#define PREAD(name, offset)                                                                        \
	ssize_t name(int fd, void *bytes, size_t size, offset at)                                  \
	{                                                                                          \
		ssize_t (*real)(int, void *, size_t, offset) =                                     \
			(ssize_t(*)(int, void *, size_t, offset))dlsym(RTLD_NEXT, #name);          \
                                                                                                   \
		nap(fd);                                                                           \
		return real(fd, bytes, size, at);                                                  \
	}

#define FOPEN(name)                                                                                \
	FILE *name(const char *path, const char *mode)                                             \
	{                                                                                          \
		FILE *(*real)(const char *, const char *) =                                        \
			(FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, #name);          \
		FILE *file = real(path, mode);                                                     \
                                                                                                   \
		if (file)                                                                          \
			note(fileno(file), path);                                                  \
		return file;                                                                       \
	}

size_t fread(void *bytes, size_t size, size_t count, FILE *file)
{
	size_t (*real)(void *, size_t, size_t, FILE *) =
		(size_t(*)(void *, size_t, size_t, FILE *))dlsym(RTLD_NEXT, "fread");

	nap(fileno(file));
	return real(bytes, size, count, file);
}

FOPEN(fopen)
FOPEN(fopen64)
OPEN(open)
OPEN(open64)
PREAD(pread, off_t)
PREAD(pread64, off64_t)
