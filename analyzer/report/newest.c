/* SPDX-License-Identifier: Apache-2.0 */
#include "report/newest.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/db_open.h"

#define SUFFIX ".db"

struct candidate {
	struct dirent *entry;
	struct timespec written;
};

static int is_database(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name), end = strlen(SUFFIX);

	return *entry->d_name != '.' && length > end &&
	       strcmp(entry->d_name + length - end, SUFFIX) == 0;
}

static int by_time(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;

	if (left->written.tv_sec != right->written.tv_sec)
		return left->written.tv_sec > right->written.tv_sec ? -1 : 1;
	if (left->written.tv_nsec != right->written.tv_nsec)
		return left->written.tv_nsec > right->written.tv_nsec ? -1 : 1;
	return strcmp(left->entry->d_name, right->entry->d_name);
}

/* While a run records, its newest records are in the log beside it. */
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

/*
 * Other programs have *.db files, too. A run that stored nothing is a run, and opening it says so.
 */
static bool is_run(const char *path)
{
	struct db *db;
	int r = db_open_read(path, &db);

	if (r == 0)
		db_close(db);
	return r != -EBADMSG && r != -EMEDIUMTYPE && r != -EACCES && r != -ENOENT;
}

static int choose(const char *folder, struct dirent *const *entries, size_t count, char **ret_name)
{
	struct candidate *candidates = calloc(count + 1, sizeof(*candidates));
	char path[PATH_MAX];
	int r = candidates ? -ENOENT : -ENOMEM;

	for (size_t i = 0; candidates && i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		candidates[i] = (struct candidate){entries[i], when_written(path)};
	}
	if (candidates)
		qsort(candidates, count, sizeof(*candidates), by_time);
	for (size_t i = 0; r == -ENOENT && i < count; i++) {
		const char *name = candidates[i].entry->d_name;

		snprintf(path, sizeof(path), "%s/%s", folder, name);
		if (!candidates[i].written.tv_sec || !is_run(path))
			continue;
		*ret_name = strdup(name);
		r = *ret_name ? 0 : -ENOMEM;
	}
	free(candidates);
	return r;
}

int newest_find(const char *folder, char **ret_name)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_database, NULL), r;

	*ret_name = NULL;
	if (count < 0)
		return -ENOENT;
	r = choose(folder, entries, (size_t)count, ret_name);
	while (count)
		free(entries[--count]);
	free(entries);
	return r;
}
