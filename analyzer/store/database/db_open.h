/* SPDX-License-Identifier: Apache-2.0 */
/* db_open.h - opens a dlprof database, checks that it is one, and closes it as one plain file. */
#pragma once

#include "store/database/db.h"

/*
 * Opens an existing database for reading. Errors: -ENOENT: there is no such file. -ENODATA: it is
 * empty (a run that stored nothing). -EBADMSG: not SQLite, or damaged. -EMEDIUMTYPE: SQLite, but
 * not dlprof's. -EPROTONOSUPPORT: written by a newer dlprof. -ENOLINK: its write-ahead log is
 * missing.
 *
 * Since the file may be anybody's, guard.h limits time and memory: reading may fail with -ETIME or
 * -ENOBUFS.
 */
int db_open_read(const char *path, struct db **ret_db);

/*
 * Opens a database for writing, as the drain does. Makes the tables if the file is empty or does
 * not exist. Errors are those of db_open_read(), and -EROFS, -ENOSPC, -EACCES; -EPERM if the file
 * is another user's.
 */
int db_open_write(const char *path, struct db **ret_db);

/* Restarts the CPU time that reading `db` may take, after other databases were read. */
void db_limit_renew(struct db *db);

/*
 * Leaves the file itself unchanged until db_thaw(), so that it can be copied: new rows go to the
 * log only. Returns -EBUSY if a reader uses the log.
 */
int db_freeze(struct db *db);
void db_thaw(struct db *db);

/* Turns off SQLite's thread locks and memory statistics. Call it first, with one thread only. */
void db_be_lean(void);

/* Closes a database; NULL is allowed. If it was open for writing, removes its -wal and -shm. */
void db_close(struct db *db);
