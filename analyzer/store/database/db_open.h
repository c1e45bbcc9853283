/* SPDX-License-Identifier: Apache-2.0 */
/* db_open.h - opens a dlprof database, checks that it is one, and closes it as one plain file. */
#pragma once

#include "store/database/db.h"

/*
 * Opens an existing database for reading. -ENOENT: there is no such file. -ENODATA: the file is
 * empty (a run that stored nothing). -EBADMSG: not SQLite, or damaged. -EMEDIUMTYPE: SQLite, but
 * not ours. -EPROTONOSUPPORT: of a newer dlprof. -ENOLINK: its write-ahead log is missing.
 *
 * The file may be anybody's (guard.h), so that reading from it may fail with -ETIME or -ENOBUFS.
 */
int db_open_read(const char *path, struct db **ret_db);

/*
 * Opens a database for writing, as the drain does, and makes the tables if the file is empty or
 * absent. Errors are those of db_open_read(), -EROFS, -ENOSPC, -EACCES; -EPERM: it is another
 * user's.
 */
int db_open_write(const char *path, struct db **ret_db);

/* Renews the time that reading may take, if other databases were read since `db` was opened. */
void db_limit_renew(struct db *db);

/*
 * Keeps the file unchanged until db_thaw(), so that it can be copied: new rows go to the log.
 * -EBUSY: a reader holds the log.
 */
int db_freeze(struct db *db);
void db_thaw(struct db *db);

/* Turns off SQLite's thread locks and memory statistics. Call it first, with one thread only. */
void db_be_lean(void);

/* Closes a database, or NULL. One open for writing becomes a plain file, without -wal and -shm. */
void db_close(struct db *db);
