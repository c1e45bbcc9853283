/* SPDX-License-Identifier: Apache-2.0 */
#include "report/newest.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/names.h"
#include "store/database/db_open.h"

struct candidate {
	const char *path;
	struct timespec written;
};

static int by_time(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;

	if (left->written.tv_sec != right->written.tv_sec)
		return left->written.tv_sec > right->written.tv_sec ? -1 : 1;
	if (left->written.tv_nsec != right->written.tv_nsec)
		return left->written.tv_nsec > right->written.tv_nsec ? -1 : 1;
	return strcmp(left->path, right->path);
}

/* Returns when a run was last written. The newest records of a live run are in its -wal file. */
static struct timespec when_written(const char *path)
{
	struct timespec newest = {0};
	char beside[PATH_MAX + 8];
	struct stat status;

	if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
		newest = status.st_mtim;
	snprintf(beside, sizeof(beside), "%s-wal", path);
	if (newest.tv_sec && stat(beside, &status) == 0 &&
	    (status.st_mtim.tv_sec > newest.tv_sec ||
	     (status.st_mtim.tv_sec == newest.tv_sec && status.st_mtim.tv_nsec > newest.tv_nsec)))
		newest = status.st_mtim;
	return newest;
}

/* Returns true if a *.db is a run of dlprof, even if it is empty. */
static bool is_run(const char *path)
{
	struct db *db;
	int r = db_open_read(path, &db);

	if (r == 0)
		db_close(db);
	return r != -EBADMSG && r != -EMEDIUMTYPE && r != -EACCES && r != -ENOENT;
}

static int choose(const struct names *names, const char **ret)
{
	struct candidate *candidates = calloc(names->count + 1, sizeof(*candidates));
	int r = candidates ? -ENOENT : -ENOMEM;

	for (size_t i = 0; candidates && i < names->count; i++)
		candidates[i] = (struct candidate){names->list[i], when_written(names->list[i])};
	if (candidates)
		qsort(candidates, names->count, sizeof(*candidates), by_time);
	for (size_t i = 0; r == -ENOENT && i < names->count; i++) {
		if (!candidates[i].written.tv_sec || !is_run(candidates[i].path))
			continue;
		*ret = candidates[i].path;
		r = 0;
	}
	free(candidates);
	return r;
}

int newest_find(const char *folder, char **ret_name)
{
	const char *path = NULL;
	struct names names;
	int r = names_list(folder, NAMES_RUN, &names);

	*ret_name = NULL;
	r = r == -ENOMEM ? r : choose(&names, &path);
	if (r == 0)
		*ret_name = strdup(path + strlen(folder) + 1);
	names_done(&names);
	return r < 0 ? r : *ret_name ? 0 : -ENOMEM;
}
