/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/segments/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/statistics/array.h"
#include "dlprof/folder.h"
#include "drain/base/now.h"
#include "drain/segments/segment.h"
#include "drain/segments/trust.h"

#define MS	 UINT64_C(1000000)
#define SCAN_MS  3000 /* pause between listings of a folder that does not change */
#define FRESH_MS 3000 /* two changes this close may give a folder the same time */

struct left {
	char name[64];
	bool is_ours;
	ino_t inode; /* inode of a file to be removed; 0: the file stays */
};

static int open_parent(const char *path, const char **ret_name)
{
	const char *slash = path[0] == '/' ? strrchr(path, '/') : NULL;
	char parent[4096];
	int fd;

	if (!slash || (size_t)(slash - path) >= sizeof(parent) - 1)
		return -EPERM;
	snprintf(parent, sizeof(parent), "%.*s/", (int)(slash - path), path);
	fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	*ret_name = slash + 1;
	return fd < 0 ? -errno : fd;
}

int folder_look(struct folder *folder, const char *path)
{
	*folder = (struct folder){.path = path};
	folder->parent = open_parent(path, &folder->name);
	if (folder->parent < 0)
		return folder->parent;
	folder->fd = trust_open_folder(folder->parent, folder->name);
	if (folder->fd < 0)
		close(folder->parent);
	return folder->fd < 0 ? folder->fd : 0;
}

void folder_close(struct folder *folder)
{
	close(folder->fd);
	close(folder->parent);
	folder_forget(folder);
}

static bool is_at_its_path(const struct folder *folder)
{
	struct stat one, other;

	return fstat(folder->fd, &one) == 0 &&
	       fstatat(AT_FDCWD, folder->path, &other, AT_SYMLINK_NOFOLLOW) == 0 &&
	       one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

int folder_lock(struct folder *folder, const char *path)
{
	int r = folder_look(folder, path);

	if (r < 0)
		return r;
	if (flock(folder->fd, LOCK_EX | LOCK_NB) < 0)
		r = -errno;
	else if (!is_at_its_path(folder))
		r = -ENOENT; /* another process held the lock before, and removed the folder */
	if (r < 0)
		folder_close(folder);
	return r;
}

int folder_restore(struct folder *folder, const char *path)
{
	if (mkdir(path, DLPROF_FOLDER_MODE) < 0 && errno != EEXIST)
		return -errno;
	return folder_lock(folder, path);
}

static bool is_newer(const struct folder *folder, const struct stat *status)
{
	return status->st_mtim.tv_sec != folder->changed.tv_sec ||
	       status->st_mtim.tv_nsec != folder->changed.tv_nsec;
}

bool folder_is_changed(const struct folder *folder)
{
	struct stat status;

	return fstat(folder->fd, &status) == 0 && is_newer(folder, &status);
}

/* To list the folder in each round would be a third of the drain's work, so it is due rarely. */
int folder_due(struct folder *folder)
{
	uint64_t now = now_ns();
	struct stat status;

	if (!is_at_its_path(folder))
		return -ENOENT;
	if (fstat(folder->fd, &status) < 0)
		return 1;
	if (is_newer(folder, &status)) {
		folder->changed = status.st_mtim;
		folder->changed_ns = now;
	}
	if (folder->scanned_ns && now - folder->changed_ns > FRESH_MS * MS &&
	    now - folder->scanned_ns < SCAN_MS * MS)
		return 0;
	folder->scanned_ns = now;
	return 1;
}

void folder_forget(struct folder *folder)
{
	free(folder->left);
	folder->left = NULL;
	folder->left_count = 0;
	folder->scanned_ns = 0;
}

static bool is_left(const struct folder *folder, const char *name)
{
	for (size_t i = 0; i < folder->left_count; i++)
		if (strcmp(folder->left[i].name, name) == 0)
			return true;
	return false;
}

static int each_name(const struct folder *folder, folder_take *take, void *context)
{
	int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int r = 0;

	if (!list) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	while (r == 0 && (entry = readdir(list)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			r = take(folder, entry->d_name, context);
	closedir(list);
	return r;
}

struct scan {
	folder_take *take;
	void *context;
};

static int take_segment(const struct folder *folder, const char *name, void *context)
{
	const struct scan *scan = context;

	if (!trust_is_segment_name(name) || is_left(folder, name))
		return 0;
	return scan->take(folder, name, scan->context);
}

int folder_scan(const struct folder *folder, folder_take *take, void *context)
{
	struct scan scan = {take, context};

	return each_name(folder, take_segment, &scan);
}

static int stop(const struct folder *folder, const char *name, void *context)
{
	return -EAGAIN;
}

bool folder_has_segments(const struct folder *folder)
{
	return folder_scan(folder, stop, NULL) == -EAGAIN;
}

int folder_leave(struct folder *folder, const char *name, bool is_ours, ino_t inode)
{
	struct left *left;

	if (is_left(folder, name))
		return 0;
	if (!ARRAY_GROW(folder->left, folder->left_count))
		return -ENOMEM;
	left = &folder->left[folder->left_count++];
	*left = (struct left){.is_ours = is_ours, .inode = inode};
	snprintf(left->name, sizeof(left->name), "%s", name);
	return 0;
}

/* Removes a file, unless its name means another file by now. */
static int unlink_inode(const struct folder *folder, const char *name, ino_t inode)
{
	struct stat status;

	if (fstatat(folder->fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (status.st_ino != inode)
		return 0;
	return unlinkat(folder->fd, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

void folder_unlink(struct folder *folder, const char *name, int fd)
{
	struct stat status;

	if (fstat(fd, &status) == 0 && unlink_inode(folder, name, status.st_ino) < 0)
		folder_leave(folder, name, true, status.st_ino);
}

size_t folder_unlink_again(struct folder *folder, int *ret_error)
{
	size_t count = 0;

	for (size_t i = folder->left_count; i-- > 0;) {
		struct left *left = &folder->left[i];
		int r = left->inode ? unlink_inode(folder, left->name, left->inode) : 0;

		if (r < 0) {
			*ret_error = -r;
			count++;
		} else if (left->inode) {
			*left = folder->left[--folder->left_count];
		}
	}
	return count;
}

static int stop_at_foreign(const struct folder *folder, const char *name, void *context)
{
	return trust_is_unfinished(folder->fd, name) || trust_is_database_name(name) ? 0
										     : -ENOTEMPTY;
}

bool folder_find_obstacle(struct folder *folder, char *why, size_t size)
{
	int error = 0;
	size_t count = folder_unlink_again(folder, &error);

	if (count)
		snprintf(why, size,
			 "all of the run is stored, but its %zu segments in %s could not be "
			 "removed: %s", count, folder->path, strerror(error));
	else if (!is_at_its_path(folder))
		return false;
	else if (each_name(folder, stop_at_foreign, NULL) == -ENOTEMPTY)
		snprintf(why, size, "%s was not removed: it holds files that dlprof did not make, "
			 "or cannot read", folder->path);
	else if (faccessat(folder->parent, ".", W_OK | X_OK, AT_EACCESS) < 0)
		snprintf(why, size, "all of the run is stored, but the empty folder %s could not "
			 "be removed: %s", folder->path, strerror(errno));
	else
		return false;
	return true;
}

/* Removes an unfinished segment of a dead process. -EAGAIN: a finished segment has just come. */
static int tidy(const struct folder *folder, const char *name, void *context)
{
	if (trust_is_segment_name(name) && !is_left(folder, name))
		return -EAGAIN;
	if (trust_is_unfinished(folder->fd, name))
		unlinkat(folder->fd, name, 0);
	return 0;
}

static bool is_ours_left(const struct folder *folder)
{
	for (size_t i = 0; i < folder->left_count; i++)
		if (folder->left[i].is_ours)
			return true;
	return false;
}

int folder_remove(struct folder *folder, const char *database)
{
	int r = each_name(folder, tidy, NULL);

	if (r < 0)
		return r;
	if (is_at_its_path(folder) &&
	    unlinkat(folder->parent, folder->name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		r = -errno;
	if (r < 0 && each_name(folder, tidy, NULL) == -EAGAIN)
		return -EAGAIN;
	if (r == 0 || !is_ours_left(folder))
		link_remove(database, folder->path);
	return r;
}

bool folder_has_root(const char *path)
{
	uint64_t pid, ticks;

	return dlprof_parse_folder(path, &pid, &ticks) && ticks && pid <= INT32_MAX &&
	       alive_start_ticks((int32_t)pid) == ticks;
}

static int stop_at_recorded(const struct folder *folder, const char *name, void *context)
{
	struct segment *segment;
	bool recording;

	if (segment_open(folder->fd, name, &segment) < 0)
		return 0;
	segment_poll(segment, false);
	recording = !segment->dead;
	segment_close(segment);
	return recording ? -EAGAIN : 0;
}

bool folder_is_recorded_into(const char *path)
{
	struct folder folder;
	bool recording;

	if (folder_look(&folder, path) < 0)
		return false;
	recording = folder_scan(&folder, stop_at_recorded, NULL) == -EAGAIN;
	folder_close(&folder);
	return recording;
}

#define PATH_BYTES 4200

static void name_link(char link[PATH_BYTES], const char *database)
{
	snprintf(link, PATH_BYTES, "%s" DLPROF_LINK_SUFFIX, database);
}

int link_find(const char *database, char *path, size_t size)
{
	char link[PATH_BYTES];
	struct stat status;
	ssize_t length;

	name_link(link, database);
	if (lstat(link, &status) < 0)
		return -errno;
	if (!S_ISLNK(status.st_mode))
		return -ENOENT; /* the user has another kind of file with this name */
	if (!trust_is_own(&status))
		return -EPERM;
	length = readlink(link, path, size - 1);
	if (length < 0)
		return -errno;
	path[length] = '\0';
	return 0;
}

void link_remove(const char *database, const char *path)
{
	char link[PATH_BYTES], target[4096];

	name_link(link, database);
	if (link_find(database, target, sizeof(target)) == 0 && strcmp(target, path) == 0)
		unlink(link);
}
