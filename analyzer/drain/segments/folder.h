/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h - the folder that holds the segments of a run.
 *
 * An open folder is known by its descriptor. Files in it that are not ours, or are no segments that
 * we can read, stay as they are and are not looked at again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct left;

struct folder {
	const char *path;
	const char *name;	/* last part of its path */
	int parent;		/* descriptor of the folder around it */
	int fd;			/* descriptor, locked: one reader at a time */
	uint64_t scanned_ns;	/* time of the last look; 0: look now */
	uint64_t changed_ns;	/* when its time was last seen to change */
	struct timespec changed;	/* its time then */
	struct left *left;	/* files that are left alone */
	size_t left_count;
	int lost_rounds;	/* gather.c: looks since it is gone from its path */
};

/*
 * Opens and locks the folder at `path`, which must outlive it. -ENOENT: there is none. -EPERM: it
 * is not ours. -EWOULDBLOCK: another drain has it.
 */
int folder_lock(struct folder *folder, const char *path);

/* Opens the folder without a lock, to look at what is in it. */
int folder_look(struct folder *folder, const char *path);

/* Opens and locks the folder, which is made if there is none. */
int folder_restore(struct folder *folder, const char *path);
void folder_close(struct folder *folder);

/* Whether it is time to look into it: 1 or 0. -ENOENT: it is no longer at its path. */
int folder_due(struct folder *folder);

/* Whether it has changed since the last folder_due(). */
bool folder_is_changed(const struct folder *folder);

/* Forgets what was seen, so that everything is looked at again. */
void folder_forget(struct folder *folder);

/* Calls `take` for each name of a segment; a result that is not 0 ends it and is returned. */
int folder_scan(const struct folder *folder, int (*take)(void *context, const char *name),
		void *context);
bool folder_has_segments(const struct folder *folder);

/* Leaves a file alone from now on. `is_ours`: another version of dlprof may come to read it. */
int folder_leave(struct folder *folder, const char *name, bool is_ours);

/* Removes the segment that was opened as `fd`. If that fails, it counts as left alone. */
void folder_unlink(struct folder *folder, const char *name, int fd);

/* Tries again to remove files. How many still cannot be removed; *ret_error: why. */
size_t folder_unlink_again(struct folder *folder, int *ret_error);

/* Says why folder_remove() will fail, as far as is known; false: it may succeed. */
bool folder_find_obstacle(struct folder *folder, char *why, size_t size);

/*
 * Removes the rest of the run: the folder, then the link. -EAGAIN: a process has just joined the
 * run. With other errors, files that are left keep the folder, and our own files the link.
 */
int folder_remove(struct folder *folder, const char *database);

/* Whether the process that began the run lives, by the name of the folder. */
bool folder_has_root(const char *path);

/* Whether a process records into it, looked at without the lock. */
bool folder_is_recorded_into(const char *path);
