/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drain/now.h"
#include "drain/segment.h"

#define MS	 UINT64_C(1000000)
#define SCAN_MS	 1000	/* between two looks, if the folder's time has not changed */
#define FRESH_MS 3000	/* so coarse may that be */

static bool ends_with(const char *name, const char *suffix)
{
	size_t length = strlen(name), size = strlen(suffix);

	return length > size && strcmp(name + length - size, suffix) == 0;
}

static bool is_segment_name(const char *name)
{
	return ends_with(name, DLPROF_SEGMENT_SUFFIX);
}

int folder_lock(struct folder *folder, const char *path)
{
	*folder = (struct folder){.path = path};
	folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder->fd < 0)
		return -errno;
	if (flock(folder->fd, LOCK_EX | LOCK_NB) < 0) {
		int r = -errno;

		close(folder->fd);
		return r;
	}
	return 0;
}

void folder_close(struct folder *folder)
{
	close(folder->fd);
}

/* Ten looks a second at what hardly ever changes would be a third of all that the drain does. */
bool folder_is_due(struct folder *folder)
{
	uint64_t now = now_ns();
	struct stat status;

	if (fstat(folder->fd, &status) < 0)
		return true;
	if (status.st_mtim.tv_sec != folder->changed.tv_sec ||
	    status.st_mtim.tv_nsec != folder->changed.tv_nsec) {
		folder->changed = status.st_mtim;
		folder->changed_ns = now;
	}
	if (folder->scanned_ns && now - folder->changed_ns > FRESH_MS * MS &&
	    now - folder->scanned_ns < SCAN_MS * MS)
		return false;
	folder->scanned_ns = now;
	return true;
}

void folder_look_again(struct folder *folder)
{
	folder->scanned_ns = 0;
}

int folder_scan(const struct folder *folder, int (*take)(void *context, const char *name),
		void *context)
{
	int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int r = 0;

	if (!list) {
		if (fd >= 0)
			close(fd);
		return -errno;
	}
	while (r == 0 && (entry = readdir(list)))
		if (is_segment_name(entry->d_name))
			r = take(context, entry->d_name);
	closedir(list);
	return r;
}

void folder_unlink(const struct folder *folder, const char *name)
{
	unlinkat(folder->fd, name, 0);
}

void folder_set_aside(const struct folder *folder, const char *name, char *ret, size_t size)
{
	snprintf(ret, size, "%s.damaged", name);
	renameat(folder->fd, name, folder->fd, ret);
}

static void link_path(const char *database, char *path, size_t size)
{
	snprintf(path, size, "%s-segments", database);
}

/* Whether there is a segment; removes what a process that died on the way to one left. */
static bool has_segments(const struct folder *folder)
{
	DIR *list = opendir(folder->path);
	struct dirent *entry;
	bool found = false;

	while (list && (entry = readdir(list))) {
		found = found || is_segment_name(entry->d_name);
		if (ends_with(entry->d_name, DLPROF_SEGMENT_UNFINISHED))
			unlinkat(folder->fd, entry->d_name, 0);
	}
	if (list)
		closedir(list);
	return found;
}

bool folder_remove(const struct folder *folder, const char *database)
{
	char link[4200];

	if (has_segments(folder))
		return false;
	if (rmdir(folder->path) < 0 && has_segments(folder))
		return false;
	link_path(database, link, sizeof(link));
	unlink(link);
	return true;
}

bool folder_find(const char *database, char *path, size_t size)
{
	char link[4200];
	ssize_t length;

	link_path(database, link, sizeof(link));
	length = readlink(link, path, size - 1);
	if (length <= 0)
		return false;
	path[length] = '\0';
	return true;
}

bool folder_is_recorded_into(const char *path)
{
	DIR *list = opendir(path);
	struct segment *segment;
	struct dirent *entry;
	bool recording = false;

	while (list && !recording && (entry = readdir(list))) {
		if (!is_segment_name(entry->d_name) ||
		    segment_open(dirfd(list), entry->d_name, &segment) < 0)
			continue;
		segment_poll(segment, false);
		recording = !segment->dead;
		segment_close(segment);
	}
	if (list)
		closedir(list);
	return recording;
}
