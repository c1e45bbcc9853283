/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h - uses a run's folder of segments through its descriptor, also if the folder is moved.
 *
 * Files that are not dlprof's, and segments of a version that we cannot read, stay as they are.
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
	const char *name;
	int parent;
	int fd;                  /* locked, so that only one process reads the segments */
	uint64_t scanned_ns;     /* when the folder was last listed; 0: list it now */
	uint64_t changed_ns;     /* when `changed` was last found to differ */
	struct timespec changed; /* the folder's modification time at the last listing */
	struct left *left;       /* files that stay, or that could not be removed yet */
	size_t left_count;
	int lost_rounds; /* gather.c: listings since the folder vanished from its path */
};

/* Opens and locks a folder; `path` must outlive it. -EPERM: not dlprof's; -EWOULDBLOCK: locked. */
int folder_lock(struct folder *folder, const char *path);

/* Opens the folder without locking it. */
int folder_look(struct folder *folder, const char *path);

/* Opens and locks a folder. Makes the folder if there is none. */
int folder_restore(struct folder *folder, const char *path);
void folder_close(struct folder *folder);

/* Returns 1 if the folder must be listed now, else 0; -ENOENT if its path does not lead to it. */
int folder_due(struct folder *folder);

bool folder_is_changed(const struct folder *folder);

void folder_forget(struct folder *folder);

/* Takes a file of the folder. If it returns other than 0, no more files are listed. */
typedef int folder_take(const struct folder *folder, const char *name, void *context);

/* Calls `take` for each segment. Returns its last result. */
int folder_scan(const struct folder *folder, folder_take *take, void *context);
bool folder_has_segments(const struct folder *folder);

/*
 * Notes that a file stays. `is_ours`: it is a segment, perhaps of another version of dlprof.
 * `inode`: that of a file that could not be removed; else 0.
 */
int folder_leave(struct folder *folder, const char *name, bool is_ours, ino_t inode);

/* Removes a file of the folder. After a failure, folder_unlink_again() tries again. */
void folder_unlink(struct folder *folder, const char *name, int fd);

/* Tries again to remove files. Returns how many still cannot be removed; *ret_error: why. */
size_t folder_unlink_again(struct folder *folder, int *ret_error);

/* Says why the folder cannot be removed. Returns false if nothing is known to prevent it. */
bool folder_find_obstacle(struct folder *folder, char *why, size_t size);

/* Removes folder and link, unless there are foreign files. -EAGAIN: a process has just joined. */
int folder_remove(struct folder *folder, const char *database);

/* Returns true if the process whose pid is in the folder's name lives. */
bool folder_has_root(const char *path);

/* Returns true if processes record into the folder. The folder need not be locked. */
bool folder_is_recorded_into(const char *path);

/*
 * Finds the target of the link "DATABASE-segments": the folder of an unfinished run. -ENOENT: there
 * is no link; -EPERM: another user made it.
 */
int link_find(const char *database, char *path, size_t size);

void link_remove(const char *database, const char *path);
