/* SPDX-License-Identifier: Apache-2.0 */
/*
 * db.h - open a dlprof database, check that it is one, and run statements in it.
 *
 * Functions return 0 or a negative errno; db_error() words it for the user.
 */
#ifndef DB_H
#define DB_H

#include <stdbool.h>
#include <stdint.h>

#define DB_APPLICATION_ID 0x646C7072	/* "dlpr" */
#define DB_SCHEMA_VERSION 6

struct db;

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

/*
 * All that a process reads of one file counts together. For who reads the same again and again, as
 * long as it runs: from here on it counts anew.
 */
void db_limit_anew(void);

/* More was read than a file of that size can need: see guard.h. */
bool db_is_spent(const struct db *db);

/*
 * Until db_thaw() the file does not change: what is written is in its log. -EBUSY: a reader is in
 * the way. For who copies the file meanwhile.
 */
int db_freeze(struct db *db);
void db_thaw(struct db *db);

/* Leaves one plain file behind (no -wal, no -shm) if it was open to write. NULL is fine. */
void db_close(struct db *db);

int db_begin(struct db *db);
int db_commit(struct db *db);
int db_rollback(struct db *db);

/* What went wrong, for a person: "not a dlprof database". Never NULL. */
const char *db_error(int error);

/* The handle, for the other files of this folder. */
struct sqlite3 *db_handle(struct db *db);

/* SQLite's result code as a negative errno. */
int db_errno(int sqlite_result);

#endif
