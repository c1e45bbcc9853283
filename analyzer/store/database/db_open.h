/* SPDX-License-Identifier: Apache-2.0 */
/* db_open.h - open a dlprof database, check that it is one, and leave it as one plain file. */
#pragma once

#include "store/database/db.h"

/*
 * Opens an existing database to read. -ENOENT: no such file. -ENODATA: the file is empty (a run
 * that stored nothing). -EBADMSG: not SQLite, or damaged. -EMEDIUMTYPE: SQLite, but not ours.
 * -EPROTONOSUPPORT: of a newer dlprof. -ENOLINK: its write-ahead log was left behind.
 *
 * It may be anybody's: see guard.h. Reading may then fail with -ETIME or -ENOBUFS.
 */
int db_open_read(const char *path, struct db **ret_db);

/*
 * Opens to write, as the drain does, and makes the tables if the file is empty or absent. The
 * errors of db_open_read(), and -EROFS, -ENOSPC, -EACCES; -EPERM: it is another user's.
 */
int db_open_write(const char *path, struct db **ret_db);

/* The time that it may take counts anew: others were read since the database was opened. */
void db_limit_renew(struct db *db);

/*
 * Until db_thaw() the file does not change: what is written is in its log. -EBUSY: a reader is in
 * the way. For who copies the file meanwhile.
 */
int db_freeze(struct db *db);
void db_thaw(struct db *db);

/* For a program of one thread that reads its own files only: no locks, no count of memory. First.
 */
void db_be_lean(void);

/* Leaves one plain file behind (no -wal, no -shm) if it was open to write. NULL is fine. */
void db_close(struct db *db);
