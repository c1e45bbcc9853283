/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - limits what SQLite does when it reads a database, which may have been made to do harm.
 *
 * Views and triggers of the file never run. Virtual tables and generated columns are not read. A
 * statement ends if it takes more time or memory than any file of that size needs. One risk
 * remains: a file may be made so as to take all that the limits allow.
 */
#pragma once

#include <sys/stat.h>

#include "store/database/door.h"
#include "store/database/handle.h"

/* Opens a file through door.h, with limits for SQLite. Close db->handle also after an error. */
int guard_open(struct db *db, const char *path, enum door_use use, int wait_ms);

void guard_limit(struct db *db, const struct stat *file);

/* Returns true if the CPU time is used up. Ask before each statement: a short one is not ended. */
bool guard_is_spent(const struct db *db);

/* Returns -EBADMSG if the file has a table that is not plain. */
int guard_check_read(struct db *db);

/* Like guard_check_read(). Also returns -EBADMSG if writing would run code from the file. */
int guard_check_write(struct db *db);
