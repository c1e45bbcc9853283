/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h - the folder that holds the segments of a run; "DATABASE-segments" leads there.
 */
#ifndef FOLDER_H
#define FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct folder {
	const char *path;
	int fd;			/* locked: one reader at a time */
	uint64_t scanned_ns;	/* the last look; 0: look */
	uint64_t changed_ns;	/* when its time was seen to have changed */
	struct timespec changed;	/* to this */
};

/* Opens the folder at `path`, which must outlive it. -EWOULDBLOCK: another drain has it. */
int folder_lock(struct folder *folder, const char *path);
void folder_close(struct folder *folder);

/* Whether it is time for a look at what is in it. */
bool folder_is_due(struct folder *folder);
void folder_look_again(struct folder *folder);

/* Calls `take` for each name of a segment; stops with its result if that is not 0. */
int folder_scan(const struct folder *folder, int (*take)(void *context, const char *name),
		void *context);

void folder_unlink(const struct folder *folder, const char *name);

/* Out of the way of every later look, for somebody to look into; `ret` is its new name. */
void folder_set_aside(const struct folder *folder, const char *name, char *ret, size_t size);

/*
 * Removes what is left of the run. False: a process joined it just now. A segment that was set
 * aside keeps the folder, and that is all.
 */
bool folder_remove(const struct folder *folder, const char *database);

/* Finds the folder of a run; false: the run is over. */
bool folder_find(const char *database, char *path, size_t size);

/* Looked at without the lock, and whatever is in memory. */
bool folder_is_recorded_into(const char *path);

#endif
