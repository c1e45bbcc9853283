/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct search {
	const char *from;
	struct trust_looker looker;
	struct place *place;
	int problem;
};

static int begin(struct search *search)
{
	struct stat file, folder;
	char path[PATH_MAX];

	if (!trust_join(search->from, ".", path, sizeof(path)))
		return -ENAMETOOLONG;
	if (lstat(search->from, &file) < 0 || lstat(*path ? path : "/", &folder) < 0)
		return -errno;
	search->looker = trust_looker(geteuid(), &file, &folder);
	return 0;
}

/* All that leads to `path` from the folder that it has in common with who looks. */
static bool check_way(struct search *search, const char *path)
{
	for (size_t at = 0; (at = trust_next(search->from, path, at));) {
		char part[PATH_MAX];
		struct stat status;
		enum trust trust;

		snprintf(part, sizeof(part), "%.*s", (int)at, path);
		if (lstat(part, &status) < 0)
			return false;
		trust = trust_judge(&search->looker, status.st_uid, status.st_gid, status.st_mode);
		if (!trust)
			continue;
		if (search->problem == -ENOENT) {
			search->problem = -EPERM;
			search->place->trust = trust;
			strcpy(search->place->path, part);
		}
		return false;
	}
	return true;
}

static bool take(struct search *search, const char *relative)
{
	char path[PATH_MAX];
	struct stat status;

	if (!trust_join(search->from, relative, path, sizeof(path)) || lstat(path, &status) < 0 ||
	    !check_way(search, path))
		return false;
	strcpy(search->place->path, path);
	return true;
}

/* What meson says of the build folder, if this was not installed. */
static bool read_built(struct search *search, const char *name, char *ret, size_t size)
{
	char path[PATH_MAX], folder[256] = "";
	struct stat status;
	FILE *file;

	if (!trust_join(search->from, TRUST_BUILT, path, sizeof(path)) ||
	    lstat(path, &status) < 0 || !check_way(search, path))
		return false;
	file = fopen(path, "re");
	if (!file)
		return false;
	if (fgets(folder, sizeof(folder), file))
		folder[strcspn(folder, "\n")] = '\0';
	fclose(file);
	return *folder && (size_t)snprintf(ret, size, "%s/%s", folder, name) < size;
}

int place_find(const char *from, const char *name, const char *installed, struct place *ret)
{
	struct search search = {.from = from, .place = ret, .problem = -ENOENT};
	char relative[512];
	int r = begin(&search);

	if (r < 0)
		return r;
	if ((read_built(&search, name, relative, sizeof(relative)) && take(&search, relative)) ||
	    take(&search, name))
		return 0;
	if (installed &&
	    (size_t)snprintf(relative, sizeof(relative), "%s/%s", installed, name) <
		    sizeof(relative) &&
	    take(&search, relative))
		return 0;
	return search.problem;
}

int place_find_own(const char *name, const char *installed, struct place *ret)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		return -errno;
	self[length] = '\0';
	return place_find(self, name, installed, ret);
}
