/* SPDX-License-Identifier: Apache-2.0 */
/* left.c - finds files of runs that were killed together with their drain. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dlprof/folder.h"
#include "drain/segments/folder.h"
#include "launch/cmd.h"
#include "launch/doctor/doctor.h"
#include "render/form/page.h"

#define MOST     4 /* largest number of folders that get their own line */
#define MB       1000000.0
#define BLOCK    512
#define QUOTED   (4 * PATH_MAX) /* a path in quotes, if each of its bytes must be escaped */
#define FIX_SIZE (2 * QUOTED + 256)

struct size {
	const struct folder *folder;
	double bytes;
};

static int add_size(void *context, const char *name)
{
	struct size *size = context;
	struct stat status;

	if (fstatat(size->folder->fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
		size->bytes += (double)status.st_blocks * BLOCK;
	return 0;
}

/* Returns the disk space that a folder's segments take, or 0 if it is not dlprof's, or in use. */
static double left_bytes(const char *path)
{
	uint64_t pid, ticks;
	struct folder folder;
	struct size size = {.folder = &folder};

	if (!dlprof_parse_folder(path, &pid, &ticks) || folder_has_root(path) ||
	    folder_is_recorded_into(path) || folder_lock(&folder, path) < 0)
		return 0;
	folder_scan(&folder, add_size, &size);
	folder_close(&folder);
	return size.bytes;
}

struct found {
	struct doctor *doctor;
	size_t count; /* number of folders that get no own line */
	double bytes; /* disk space of these folders */
};

static void say(struct found *found, const char *path, double bytes)
{
	static char fixes[MOST][FIX_SIZE];
	static size_t said;
	char word[QUOTED] = "";

	if (said == MOST) {
		found->count++;
		found->bytes += bytes;
		return;
	}
	page_append_word(word, sizeof(word), path);
	snprintf(fixes[said], FIX_SIZE,
		 "dlprof-report RUN.db, if RUN.db-segments leads there, stores it. Else: ln -s %s "
		 "rescued.db-segments; touch rescued.db; dlprof-report rescued.db. Or: rm -r %s",
		 word, word);
	doctor_say(found->doctor, DOCTOR_WARN, "left", fixes[said++],
		   "'%s' (%.1f MB) holds what a run that was killed did not store", path,
		   bytes / MB);
}

static void look(struct found *found, const char *folder)
{
	DIR *list = opendir(folder);
	struct dirent *entry;
	char path[PATH_MAX];
	double bytes;

	while (list && (entry = readdir(list))) {
		if (snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >=
		    (int)sizeof(path))
			continue;
		bytes = left_bytes(path);
		if (bytes > 0)
			say(found, path, bytes);
	}
	if (list)
		closedir(list);
}

void doctor_left(struct doctor *doctor)
{
	const char *chosen = getenv("DLPROF_SEGMENT_DIR");
	struct found found = {.doctor = doctor};

	look(&found, chosen ? chosen : launch_temporary());
	if (found.count)
		doctor_say(doctor, DOCTOR_WARN, "left", "the same for each of them",
			   "%zu more such folders take %.1f MB", found.count, found.bytes / MB);
}
