/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - a database may be anybody's, and made to do harm: what SQLite does for it is limited.
 *
 * None of its views and triggers run, no virtual table and no generated column is read, and a
 * statement ends when the process has used more time or memory than a file of its size can need.
 * What remains open: a file that is just below the limits costs what they allow.
 */
#pragma once

#include <sys/stat.h>

#include "store/database/door.h"
#include "store/database/handle.h"

/* Opens the handle through the door, to be closed also after an error. 0 or -errno. */
int guard_open(struct db *db, const char *path, enum door_use use, int wait_ms);

/* From now on, for a file of that size. */
void guard_limit(struct db *db, const struct stat *file);

/* Its full time from now on, where others were read since it was opened. */
void guard_renew(struct db *db);

/* For many short statements: none of them is interrupted. */
bool guard_is_spent(const struct db *db);

/* -EBADMSG: what the file calls a table is none. */
int guard_check_read(struct db *db);

/* ... or to write into it would run what somebody else wrote. */
int guard_check_write(struct db *db);
