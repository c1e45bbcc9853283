/* SPDX-License-Identifier: Apache-2.0 */
/* db_open.h - open a dlprof database, check that it is one, and leave it as one plain file. */
#pragma once

#include "store/database/db.h"

/*
 * Opens an existing database to read. -ENOENT: no such file. -ENODATA: the file is empty (a run
 * that stored nothing). -EBADMSG: not SQLite, or damaged. -EMEDIUMTYPE: SQLite, but not ours.
 * -EPROTONOSUPPORT: of a newer dlprof. -ENOLINK: its write-ahead log was left behind.
 *
 * The file may be anybody's (guard.h), so that reading may fail with -ETIME or -ENOBUFS.
 */
int db_open_read(const char *path, struct db **ret_db);

/*
 * Opens a database to write, as the drain does, and makes the tables if the file is empty or
 * absent. The errors of db_open_read(), and -EROFS, -ENOSPC, -EACCES; -EPERM: it is another user's.
 */
int db_open_write(const char *path, struct db **ret_db);

/* Counts the time that reading may take from now on, if others were read since this was opened. */
void db_limit_renew(struct db *db);

/*
 * Keeps the file unchanged until db_thaw(), for somebody who copies it: new rows go to the log.
 * -EBUSY: a reader is in the way.
 */
int db_freeze(struct db *db);
void db_thaw(struct db *db);

/*
 * First call of a program with one thread that reads its own files: no locks, no count of memory.
 */
void db_be_lean(void);

/* Closes a database; one open to write becomes one plain file (no -wal, no -shm). NULL is fine. */
void db_close(struct db *db);
