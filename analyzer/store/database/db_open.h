/* SPDX-License-Identifier: Apache-2.0 */
/* db_open.h - opens a dlprof database, checks that it is one, and closes it as one plain file. */
#pragma once

#include "store/database/db.h"

/*
 * -ENOENT: there is no such file. -ENODATA: it is empty (a run that stored nothing). -EBADMSG: not
 * SQLite, or damaged. -EMEDIUMTYPE: SQLite, but not dlprof's. -EPROTONOSUPPORT: written by a newer
 * dlprof. -ENOLINK: its write-ahead log is missing.
 *
 * Since guard.h limits time and memory, reading may fail with -ETIME or -ENOBUFS.
 */
int db_open_read(const char *path, struct db **ret_db);

/* Makes the tables if need be. Also -EROFS, -ENOSPC, -EACCES; -EPERM: another user's file. */
int db_open_write(const char *path, struct db **ret_db);

/* Restarts the CPU time that reading `db` may take, after other databases were read. */
void db_limit_renew(struct db *db);

/* Until db_thaw(), new rows go to the log only. -EBUSY: a reader uses the log. */
int db_freeze(struct db *db);
void db_thaw(struct db *db);

/* Turns off SQLite's thread locks and memory statistics. Call it first, with one thread only. */
void db_be_lean(void);

/* NULL is allowed. Removes -wal and -shm of a database that was open for writing. */
void db_close(struct db *db);
