/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - limits what SQLite does for a database, which may be anybody's and made to do harm.
 *
 * None of its views and triggers run, no virtual table and no generated column is read, and a
 * statement ends when the process has used more time or memory than a file of its size can need.
 * What remains open: a file that is just below the limits costs what they allow.
 */
#pragma once

#include <sys/stat.h>

#include "store/database/door.h"
#include "store/database/handle.h"

/* Opens the handle through the door; it must be closed also after an error. 0 or -errno. */
int guard_open(struct db *db, const char *path, enum door_use use, int wait_ms);

/* Sets the limits of a file of that size, from now on. */
void guard_limit(struct db *db, const struct stat *file);

/* Gives a file its full time anew, where others were read since it was opened. */
void guard_renew(struct db *db);

/* Whether the time is over, for many short statements, none of which is interrupted. */
bool guard_is_spent(const struct db *db);

/* -EBADMSG: something in the file is called a table and is none. */
int guard_check_read(struct db *db);

/* As above; also -EBADMSG where writing into it would run what somebody else wrote. */
int guard_check_write(struct db *db);
