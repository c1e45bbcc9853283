/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - limits what SQLite does when it reads a database, which may have been made to do harm.
 *
 * The file's own views and triggers are not run, and virtual tables and generated columns are not
 * read. A statement ends if the process has used more CPU time or memory than any file of that size
 * needs. One risk remains: a file that is just below the limits costs what they allow.
 */
#pragma once

#include <sys/stat.h>

#include "store/database/door.h"
#include "store/database/handle.h"

/* Opens a database through the door; close the handle also after an error. Returns 0 or -errno. */
int guard_open(struct db *db, const char *path, enum door_use use, int wait_ms);

/* Sets the limits for a file of this size, and starts counting CPU time. */
void guard_limit(struct db *db, const struct stat *file);

/* Restarts the CPU time that a file may take, after others were read. */
void guard_renew(struct db *db);

/* Returns true if the time is used up. Needed between statements too short to be interrupted. */
bool guard_is_spent(const struct db *db);

/* Checks a file before it is read. -EBADMSG: some table in it is not a plain table. */
int guard_check_read(struct db *db);

/* Checks a file before writing. -EBADMSG also if a write would run code of the file's author. */
int guard_check_write(struct db *db);
