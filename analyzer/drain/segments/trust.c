/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/segments/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dlprof/folder.h"
#include "dlprof/segment.h"

#define MODE_BITS 07777

static const char *behind_numbers(const char *name)
{
	uint64_t number;

	if (!dlprof_take_number(&name, &number) || !dlprof_take_next(&name, &number) ||
	    !dlprof_take_next(&name, &number))
		return NULL;
	return name;
}

bool trust_is_segment_name(const char *name)
{
	const char *at = behind_numbers(name);
	uint64_t number;

	if (at && *at == '-' && !dlprof_take_next(&at, &number))
		return false;
	return at && strcmp(at, DLPROF_SEGMENT_SUFFIX) == 0;
}

static bool is_unfinished_name(const char *name)
{
	const char *at = behind_numbers(name);

	return at && strcmp(at, DLPROF_SEGMENT_UNFINISHED) == 0;
}

bool trust_is_database_name(const char *name)
{
	return strncmp(name, TRUST_DATABASE, sizeof(TRUST_DATABASE) - 1) == 0 &&
	       strchr("-.", name[sizeof(TRUST_DATABASE) - 1]);
}

bool trust_is_own(const struct stat *status)
{
	return status->st_uid == geteuid() || status->st_uid == 0;
}

/* Returns true for dlprof's folders. They may inherit a set-group-ID bit from their parent. */
static bool is_folder(const struct stat *status)
{
	return S_ISDIR(status->st_mode) && trust_is_own(status) &&
	       (status->st_mode & MODE_BITS & ~S_ISGID) == DLPROF_FOLDER_MODE;
}

/*
 * Returns true if the file still has its unfinished name, too. A process gives a finished file its
 * second name by link(), and then removes the unfinished one.
 */
static bool is_being_named(int folder, const char *name, const struct stat *status)
{
	const char *stem_end = behind_numbers(name);
	struct stat other;
	char path[80];

	if (!stem_end)
		return false;
	snprintf(path, sizeof(path), "%.*s" DLPROF_SEGMENT_UNFINISHED, (int)(stem_end - name),
		 name);
	return strcmp(path, name) != 0 &&
	       fstatat(folder, path, &other, AT_SYMLINK_NOFOLLOW) == 0 &&
	       other.st_dev == status->st_dev && other.st_ino == status->st_ino;
}

/* Accepts a file with one name. A second one must be its unfinished name, else somebody made it. */
static bool is_file(int folder, const char *name, const struct stat *status)
{
	return S_ISREG(status->st_mode) && trust_is_own(status) &&
	       (status->st_mode & MODE_BITS) == DLPROF_FILE_MODE &&
	       (status->st_nlink == 1 ||
		(status->st_nlink == 2 && is_being_named(folder, name, status)));
}

static int foreign(int error)
{
	switch (error) {
	case EACCES:
	case ELOOP:
	case ENOTDIR:
	case ENXIO:
		return -EPERM;
	default:
		return -error;
	}
}

int trust_open_folder(int parent, const char *name)
{
	uint64_t pid, ticks;
	struct stat status;
	int fd;

	if (!dlprof_parse_folder(name, &pid, &ticks))
		return -EPERM;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return foreign(errno);
	if (fstat(fd, &status) == 0 && is_folder(&status))
		return fd;
	close(fd);
	return -EPERM;
}

/* Checks the file before opening it: opening a device may have effects. */
int trust_open_file(int folder, const char *name, int flags)
{
	struct stat before, status;
	bool is_ours = false;
	int fd;

	/* If the process removes the unfinished name meanwhile, only the second look fits. */
	for (int look = 0; !is_ours && look < 2; look++) {
		if (fstatat(folder, name, &before, AT_SYMLINK_NOFOLLOW) < 0)
			return -errno;
		is_ours = is_file(folder, name, &before);
	}
	if (!is_ours)
		return -EPERM;
	fd = openat(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return foreign(errno);
	if (fstat(fd, &status) == 0 && status.st_dev == before.st_dev &&
	    status.st_ino == before.st_ino)
		return fd;
	close(fd);
	return -EPERM;
}

/* Returns true for an unfinished segment: it begins with 0 or, once all is written, the magic. */
bool trust_is_unfinished(int folder, const char *name)
{
	int fd = is_unfinished_name(name) ? trust_open_file(folder, name, O_RDONLY) : -EPERM;
	struct stat status;
	uint64_t magic = 0;
	bool is_ours;

	if (fd < 0)
		return false;
	is_ours = fstat(fd, &status) == 0 &&
		  status.st_size <= (off_t)sizeof(struct dlprof_segment) &&
		  pread(fd, &magic, sizeof(magic), 0) >= 0 &&
		  (!magic || magic == DLPROF_SEGMENT_MAGIC);
	close(fd);
	return is_ours;
}
