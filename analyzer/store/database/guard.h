/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - limits what SQLite does when it reads a database, which may have been made to do harm.
 *
 * The file's own views and triggers do not run, nor are virtual tables and generated columns read.
 * A statement ends if it needs more time or memory than any file of that size. One risk remains: a
 * file just below the limits costs what they allow.
 */
#pragma once

#include <sys/stat.h>

#include "store/database/door.h"
#include "store/database/handle.h"

/* Close the handle also after an error. */
int guard_open(struct db *db, const char *path, enum door_use use, int wait_ms);

void guard_limit(struct db *db, const struct stat *file);

/* Restarts the CPU time that a file may take, after others were read. */
void guard_renew(struct db *db);

/* Returns true if the limit is used up. Ask between statements too short to be interrupted. */
bool guard_is_spent(const struct db *db);

/* -EBADMSG: some table in the file is not a plain table. */
int guard_check_read(struct db *db);

/* -EBADMSG also if a write would run code of the file's author. */
int guard_check_write(struct db *db);
