/* SPDX-License-Identifier: Apache-2.0 */
/* db_open.h - opens a dlprof database, checks that it is one, and closes it as one plain file. */
#pragma once

#include "store/database/db.h"

/*
 * Opens a database for reading. -ENODATA: the file is empty (a run that stored nothing). -EBADMSG:
 * not SQLite, or damaged. -EMEDIUMTYPE: SQLite, but no run of dlprof. -EPROTONOSUPPORT: written by
 * a newer dlprof. -ENOLINK: the write-ahead log, which has the tables, is missing.
 *
 * Reading it later may fail with -ETIME or -ENOBUFS, since guard.h limits time and memory.
 */
int db_open_read(const char *path, struct db **ret_db);

/* Opens for writing; makes file and tables if need be. -EPERM: the file belongs to another user. */
int db_open_write(const char *path, struct db **ret_db);

/* Starts the limit on CPU time anew for `db`, after other databases were read. */
void db_limit_renew(struct db *db);

/* Empties the log. Until db_thaw(), new rows go only to the log. -EBUSY: a reader uses the log. */
int db_freeze(struct db *db);
void db_thaw(struct db *db);

/* Turns off SQLite's thread locks and memory statistics. Call this before any use of SQLite. */
void db_be_lean(void);

/* Closes `db`, which may be NULL. Removes -wal and -shm if `db` was opened for writing. */
void db_close(struct db *db);
