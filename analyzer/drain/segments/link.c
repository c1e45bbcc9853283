/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/segments/link.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dlprof/folder.h"
#include "drain/segments/trust.h"

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
		return -ENOENT; /* the user has another file of this name */
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
