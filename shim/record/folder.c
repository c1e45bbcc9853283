/* SPDX-License-Identifier: Apache-2.0 */
#include "record/folder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "dlprof/folder.h"
#include "base/process.h"
#include "base/sys.h"
#include "base/text.h"

#define SUFFIX_MAX 1000
#define PATH_BYTES 1040

static bool is_own(const struct stat *status)
{
	return status->st_uid == (uid_t)sys_call0(SYS_geteuid);
}

int folder_check(const char *folder)
{
	struct stat status;
	int r = sys_lstat(folder, &status);

	if (r < 0)
		return r;
	return S_ISDIR(status.st_mode) && is_own(&status) &&
			       (status.st_mode & 07777 & ~S_ISGID) == DLPROF_FOLDER_MODE
		       ? 0
		       : -EPERM;
}

static void link_path(struct text *link, const char *database)
{
	text_format(link, "%s" DLPROF_LINK_SUFFIX, database);
}

bool folder_link_is_free(const char *database)
{
	TEXT(link, PATH_BYTES);
	char target[PATH_BYTES];
	struct stat status;
	uint64_t pid, ticks;
	int r;

	link_path(&link, database);
	r = sys_lstat(link.buffer, &status);
	if (r < 0)
		return r == -ENOENT;
	if (!S_ISLNK(status.st_mode) || !is_own(&status))
		return false;
	r = sys_readlink(link.buffer, target, sizeof(target) - 1);
	if (r <= 0)
		return false;
	target[r] = '\0';
	return dlprof_parse_folder(target, &pid, &ticks) && sys_lstat(target, &status) == -ENOENT;
}

static int make_link(const char *folder, const char *database)
{
	TEXT(link, PATH_BYTES);
	int r;

	link_path(&link, database);
	r = (int)sys_call3(SYS_symlinkat, folder, AT_FDCWD, link.buffer);
	if (r != -EEXIST || !folder_link_is_free(database))
		return r;
	sys_unlink(link.buffer); /* the database was moved away */
	return (int)sys_call3(SYS_symlinkat, folder, AT_FDCWD, link.buffer);
}

static void remove_link(const char *database)
{
	TEXT(link, PATH_BYTES);

	link_path(&link, database);
	sys_unlink(link.buffer);
}

/* Makes the folder, with the mode and owner that readers demand before they trust it. */
static int make(const char *folder)
{
	int r = (int)sys_call3(SYS_mkdirat, AT_FDCWD, folder, DLPROF_FOLDER_MODE);

	if (r < 0)
		return r;
	r = folder_check(folder);
	if (r < 0)
		sys_rmdir(folder);
	return r;
}

int folder_make(const char *base, const char *database, char *folder, size_t size, bool *ret_linked)
{
	struct stat status;
	struct text path;
	int r = -EEXIST;

	for (int suffix = 0; r == -EEXIST && suffix < SUFFIX_MAX; suffix++) {
		text_init(&path, folder, size);
		text_format(&path, "%s/" DLPROF_FOLDER_PREFIX "%d-%lu", base, sys_getpid(),
			    process_start_ticks());
		if (suffix)
			text_format(&path, "-%d", suffix);
		if (path.cut)
			return -ENAMETOOLONG;
		/* Before an exec(), this process may have made a run of the same name. */
		if (sys_lstat(folder, &status) == 0)
			continue;
		*ret_linked = make_link(folder, database) == 0;
		r = make(folder);
		if (r < 0 && *ret_linked)
			remove_link(database);
	}
	return r;
}

void folder_remove(const char *folder, const char *database)
{
	sys_rmdir(folder);
	if (database)
		remove_link(database);
}

/* Returns false if process `pid`, the drain, has another mount namespace and sees other files. */
static bool sees_same_files(uint64_t pid)
{
	TEXT(path, 64);
	char own[64], other[64];
	int length = sys_readlink("/proc/self/ns/mnt", own, sizeof(own));

	text_format(&path, "/proc/%lu/ns/mnt", pid);
	return length > 0 && sys_readlink(path.buffer, other, sizeof(other)) == length &&
	       memcmp(own, other, (size_t)length) == 0;
}

static bool is_run_alive(const char *folder)
{
	uint64_t pid, ticks;

	return dlprof_parse_folder(folder, &pid, &ticks) && pid != (uint64_t)sys_getpid() &&
	       pid <= INT32_MAX && ticks && process_stat((int)pid, 22) == ticks &&
	       process_stat((int)pid, 23) && /* field 23: memory, 0 for a zombie */
	       sees_same_files(pid);
}

int folder_restore(const char *folder)
{
	int r;

	if (!is_run_alive(folder))
		return -ENOENT;
	r = make(folder);
	return r == -EEXIST ? folder_check(folder) : r == -ENOENT ? -ENOTDIR : r;
}
