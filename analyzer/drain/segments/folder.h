/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h - the folder with the segments of a run.
 *
 * An open folder is used by its descriptor, wherever it is moved. Files in it that are not ours, or
 * segments of a version that we cannot read, stay as they are and are not looked at again.
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
	const char *name;	/* last part of the folder's path */
	int parent;		/* descriptor of the parent folder */
	int fd;			/* descriptor of the folder, locked for one reader at a time */
	uint64_t scanned_ns;	/* time of the last listing; 0: list it now */
	uint64_t changed_ns;	/* when `changed` was last seen to change */
	struct timespec changed;	/* modification time at the last look */
	struct left *left;	/* files left alone, or still to be removed */
	size_t left_count;
	int lost_rounds;	/* gather.c: looks since the folder vanished from its path */
};

/*
 * Opens and locks the folder at `path`; the string must outlive `folder`. Returns -ENOENT if there
 * is no folder, -EPERM if it is not ours, -EWOULDBLOCK if another drain has locked it.
 */
int folder_lock(struct folder *folder, const char *path);

/* Opens the folder without a lock, to look at its content. */
int folder_look(struct folder *folder, const char *path);

/* Opens and locks the folder; makes it if there is none. */
int folder_restore(struct folder *folder, const char *path);
void folder_close(struct folder *folder);

/* Returns 1 if the folder is to be listed now, else 0; -ENOENT if it is no longer at its path. */
int folder_due(struct folder *folder);

/* Returns true if the folder has changed since the last folder_due(). */
bool folder_is_changed(const struct folder *folder);

/* Forgets what was seen of the folder, so that everything is looked at again. */
void folder_forget(struct folder *folder);

/* Calls `take` for each segment's name; a result that is not 0 ends the listing and is returned. */
int folder_scan(const struct folder *folder, int (*take)(void *context, const char *name),
		void *context);
bool folder_has_segments(const struct folder *folder);

/* Leaves a file alone from now on. `is_ours`: it is a segment, maybe of another dlprof version. */
int folder_leave(struct folder *folder, const char *name, bool is_ours);

/* Removes the segment file that was opened as `fd`. If that fails, the file is left alone. */
void folder_unlink(struct folder *folder, const char *name, int fd);

/* Tries again to remove files. Returns how many cannot be removed yet; *ret_error: why. */
size_t folder_unlink_again(struct folder *folder, int *ret_error);

/* Writes why folder_remove() will fail, as far as is known. Returns false if it may succeed. */
bool folder_find_obstacle(struct folder *folder, char *why, size_t size);

/*
 * Removes the rest of the run: the folder, then the link. Returns -EAGAIN if a process has just
 * joined the run. After another error, the folder stays if files remain in it, and the link stays
 * if segments do.
 */
int folder_remove(struct folder *folder, const char *database);

/* Returns true if the process that began the run lives, which the folder's name contains. */
bool folder_has_root(const char *path);

/* Returns true if a process records into the folder. Does not need the lock. */
bool folder_is_recorded_into(const char *path);
