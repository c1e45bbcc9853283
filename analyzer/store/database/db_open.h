/* SPDX-License-Identifier: Apache-2.0 */
/* db_open.h - opens a dlprof database, checks that it is one, and closes it as one plain file. */
#pragma once

#include "store/database/db.h"

/*
 * Opens a database for reading. -ENODATA: the file is empty, because the run stored nothing.
 * -EBADMSG: not SQLite, or damaged. -EMEDIUMTYPE: SQLite, but no run of dlprof. -EPROTONOSUPPORT: a
 * newer dlprof wrote it. -ENOLINK: the write-ahead log is missing, and the tables with it.
 *
 * Later reads may fail with -ETIME or -ENOBUFS, since guard.h limits time and memory.
 */
int db_open_read(const char *path, struct db **ret_db);

/* Opens for writing, and makes a missing file or tables. -EPERM: another user's file. */
int db_open_write(const char *path, struct db **ret_db);

/* Empties the log. Until db_thaw(), new rows stay in the log. -EBUSY: a reader uses the log. */
int db_freeze(struct db *db);
void db_thaw(struct db *db);

/* Turns off SQLite's thread locks and memory statistics. Call this before any use of SQLite. */
void db_be_lean(void);

/* Closes `db` (may be NULL). If `db` was opened for writing, removes -wal and -shm. */
void db_close(struct db *db);
