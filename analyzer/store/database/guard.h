/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - limits what SQLite does when it reads a database, which may have been made to do harm.
 *
 * The file's own views and triggers do not run, and virtual tables and generated columns are not
 * read. A statement ends if it takes more time or memory than a file of that size can need. One
 * risk remains: a file may be made to take all that the limits allow.
 */
#pragma once

#include <sys/stat.h>

#include "store/database/door.h"
#include "store/database/handle.h"

/* Opens a file through the door, with SQLite's limits set. Close db->handle also after an error. */
int guard_open(struct db *db, const char *path, enum door_use use, int wait_ms);

void guard_limit(struct db *db, const struct stat *file);

/* Starts the limit on CPU time anew for `db`, after other databases were read. */
void guard_renew(struct db *db);

/* Returns true if the CPU time is used up. Ask before each statement: short ones run on. */
bool guard_is_spent(const struct db *db);

/* Returns -EBADMSG if a table in the file is not a plain table. */
int guard_check_read(struct db *db);

/* Like guard_check_read(), and -EBADMSG also if a write would run code that the file contains. */
int guard_check_write(struct db *db);
