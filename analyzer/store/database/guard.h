/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - limits what SQLite does for a database, which anybody may have made to do harm.
 *
 * The file's views and triggers are not run, virtual tables and generated columns are not read, and
 * a statement ends when the process has used more CPU time or memory than a file of that size can
 * need. What remains open: a file that is just below the limits costs what they allow.
 */
#pragma once

#include <sys/stat.h>

#include "store/database/door.h"
#include "store/database/handle.h"

/* Opens a database through the door; close the handle also after an error. Returns 0 or -errno. */
int guard_open(struct db *db, const char *path, enum door_use use, int wait_ms);

/* Sets the limits for a file of that size; time counts from now on. */
void guard_limit(struct db *db, const struct stat *file);

/* Gives a file its full time again, if others were read since it was opened. */
void guard_renew(struct db *db);

/* Whether the time is used up; for many statements that are too short to be interrupted. */
bool guard_is_spent(const struct db *db);

/* Checks a file for reading. -EBADMSG: some table in it is not a plain table. */
int guard_check_read(struct db *db);

/* Checks a file for writing. -EBADMSG, also if a write would run code of the file's author. */
int guard_check_write(struct db *db);
