/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h - the folder that holds the segments of a run.
 *
 * Once it is open it is known by its descriptor. What is in it and not ours, or no segment that we
 * can read, stays as it is, and is not looked at again.
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
	const char *name;	/* the last part of it */
	int parent;		/* the folder that it lies in */
	int fd;			/* locked: one reader at a time */
	uint64_t scanned_ns;	/* the last look; 0: look */
	uint64_t changed_ns;	/* when its time was seen to have changed */
	struct timespec changed;	/* to this */
	struct left *left;	/* what is not touched again */
	size_t left_count;
	int lost_rounds;	/* gather.c's: it is no more at its path, since so many looks */
};

/*
 * Opens and locks the folder at `path`, which must outlive it. -ENOENT: there is none. -EPERM: it
 * is not ours. -EWOULDBLOCK: another drain has it.
 */
int folder_lock(struct folder *folder, const char *path);

/* The same without a lock, to look at what is in it. */
int folder_look(struct folder *folder, const char *path);

/* The same, and makes it where there is none. */
int folder_restore(struct folder *folder, const char *path);
void folder_close(struct folder *folder);

/* 1: it is time to look into it, 0: not yet. -ENOENT: it is no longer at its path. */
int folder_due(struct folder *folder);

/* Whether there is something that folder_due() has not seen. */
bool folder_is_changed(const struct folder *folder);

/* Forgets what was seen: everything is looked at again. */
void folder_forget(struct folder *folder);

/* Calls `take` for each name of a segment; stops with its result if that is not 0. */
int folder_scan(const struct folder *folder, int (*take)(void *context, const char *name),
		void *context);
bool folder_has_segments(const struct folder *folder);

/* Leaves the file alone from now on. `is_ours`: a dlprof that can read it may come. */
int folder_leave(struct folder *folder, const char *name, bool is_ours);

/* Removes the segment that was opened as `fd`. If that fails, it counts as left. */
void folder_unlink(struct folder *folder, const char *name, int fd);

/* Tries again to remove what could not be. How many still cannot, and why in *ret_error. */
size_t folder_unlink_again(struct folder *folder, int *ret_error);

/* Why folder_remove() will fail, as far as can be said before it; false: it may succeed. */
bool folder_find_obstacle(struct folder *folder, char *why, size_t size);

/*
 * Removes what is left of the run: the folder, then the link. -EAGAIN: a process joined the run
 * just now. Other errors: what is left keeps the folder, and what is ours of it the link.
 */
int folder_remove(struct folder *folder, const char *database);

/* Whether the process lives that began the run, by the name of the folder. */
bool folder_has_root(const char *path);

/* Whether a process records into it. Looked at without the lock. */
bool folder_is_recorded_into(const char *path);
