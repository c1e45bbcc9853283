/* SPDX-License-Identifier: Apache-2.0 */
#include "store/database/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dlprof/units.h"
#include "store/database/door.h"

#define MOST_TRIES 10
#define NAME	   "/run.db"

/* bytes of a write-ahead log's header: two of its numbers change when SQLite restarts the log */
#define WAL_HEAD 32

int copy_bytes(int from, int to)
{
	static char buffer[1 << 16];
	ssize_t length, put;

	while ((length = read(from, buffer, sizeof(buffer))) != 0) {
		if (length < 0 && errno != EINTR)
			return -errno;
		for (ssize_t done = 0; done < length; done += put) {
			put = write(to, buffer + done, (size_t)(length - done));
			if (put < 0 && errno != EINTR)
				return -errno;
			put = put < 0 ? 0 : put;
		}
	}
	return 0;
}

static int copy_from(int in, const char *to)
{
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r = out < 0 ? -errno : copy_bytes(in, out);

	if (r == 0 && fsync(out) < 0)
		r = -errno;
	/* Some file systems report a full disk only in close(). */
	if (out >= 0 && close(out) < 0 && r == 0)
		r = -errno;
	if (r < 0 && out >= 0)
		unlink(to);
	return r;
}

int copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r;

	if (in < 0)
		return -errno;
	r = copy_from(in, to);
	close(in);
	return r;
}

struct state {
	struct stat status;
	char head[WAL_HEAD];
};

static void look(const char *path, const char *wal, struct state *ret)
{
	int fd = open(wal, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	memset(ret, 0, sizeof(*ret));
	stat(path, &ret->status);
	ret->status.st_atim = (struct timespec){0};
	if (fd < 0)
		return;
	if (pread(fd, ret->head, WAL_HEAD, 0) < 0)
		ret->head[0] = 0;
	close(fd);
}

/* Copies the log, unless door.h refuses it: it may be another database's. */
static int copy_log(const char *path, const struct door *door, const char *copy)
{
	int log = door_open_log(path, door), r;

	if (log < 0)
		return log == -ENOENT || log == -EUCLEAN ? 0 : log;
	r = copy_from(log, copy);
	close(log);
	return r;
}

/* Copies the log first: when `copy` appears, both copies must be complete. */
static int try_copy(const char *path, const char *copy)
{
	char wal_copy[PATH_MAX + 8], part[PATH_MAX + 8];
	struct door door;
	int r;

	snprintf(wal_copy, sizeof(wal_copy), "%s-wal", copy);
	snprintf(part, sizeof(part), "%s" COPY_PART, copy);
	unlink(copy);
	unlink(wal_copy);
	unlink(part);
	r = door_look(path, &door);
	/* If door.h refuses only files beside the database, it is copied without them. */
	if (r == -EUCLEAN && door.fd >= 0)
		r = 0;
	if (r == 0)
		r = copy_log(path, &door, wal_copy);
	if (r == 0)
		r = copy_from(door.fd, part);
	door_close(&door);
	if (r == 0 && rename(part, copy) < 0)
		r = -errno;
	if (r < 0) {
		unlink(wal_copy);
		unlink(part);
	}
	return r;
}

int copy_database(const char *path, const char *copy)
{
	char wal[PATH_MAX + 8];
	struct state before, after;
	int r = 0;

	snprintf(wal, sizeof(wal), "%s-wal", path);
	for (int tries = 0; r == 0 && tries < MOST_TRIES; tries++) {
		look(path, wal, &before);
		r = try_copy(path, copy);
		look(path, wal, &after);
		if (memcmp(&before, &after, sizeof(before)) == 0)
			break;
	}
	return r;
}

int copy_aside(const char *path, char *ret, size_t size)
{
	const char *base = getenv("TMPDIR");
	int r;

	if (!base || base[0] != '/')
		base = "/tmp";
	if (snprintf(ret, size, "%s/dlprof-read-XXXXXX" NAME, base) >= (int)size)
		return -ENAMETOOLONG;
	ret[strlen(ret) - strlen(NAME)] = '\0';
	if (!mkdtemp(ret))
		return -errno;
	strcat(ret, NAME);
	r = copy_database(path, ret);
	if (r < 0)
		copy_remove(ret);
	return r;
}

void copy_remove_beside(const char *path)
{
	static const char *const ends[] = {"-wal", "-shm", "-journal"};
	char name[PATH_MAX + 16];

	for (size_t i = 0; i < ARRAY_COUNT(ends); i++) {
		snprintf(name, sizeof(name), "%s%s", path, ends[i]);
		unlink(name);
	}
}

void copy_remove(const char *path)
{
	char name[PATH_MAX + 16];

	unlink(path);
	copy_remove_beside(path);
	snprintf(name, sizeof(name), "%.*s", (int)(strlen(path) - strlen(NAME)), path);
	rmdir(name);
}
