/* SPDX-License-Identifier: Apache-2.0 */
#include "store/database/handle.h"

#include <errno.h>
#include <sqlite3.h>
#include <stddef.h>

#include "store/database/door.h"

static int interrupted = -ETIME;

void db_interrupt(int error)
{
	interrupted = error;
}

int db_errno(int sqlite_result)
{
	const int result = sqlite_result & 0xff;

	if (result == SQLITE_OK || result == SQLITE_ROW || result == SQLITE_DONE)
		return 0;
	/* Whether the door refused a file cannot be seen in SQLite's error code. */
	if (door_take_refusal())
		return -EUCLEAN;
	switch (result) {
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return -EACCES;
	case SQLITE_CANTOPEN:
		return -ENOENT;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_INTERRUPT:
		return interrupted;
	case SQLITE_TOOBIG:
		return -EBADMSG;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_FORMAT:
	case SQLITE_MISMATCH:
	/* dlprof's statements are correct, so the file lacks a table or columns */
	case SQLITE_ERROR:
		return -EBADMSG;
	default:
		return -EIO;
	}
}

const char *db_error(int error)
{
	switch (error < 0 ? -error : error) {
	case ENOENT:
		return "no such file";
	case EISDIR:
		return "is a directory";
	case EACCES:
	case EPERM:
		return "permission denied";
	case EROFS:
		return "the file or its folder is read-only";
	case ENODATA:
		return "the file is empty: that run stored nothing";
	case EBADMSG:
		return "damaged, or not a dlprof database";
	case EMEDIUMTYPE:
		return "an SQLite database, but not one of dlprof's";
	case EPROTONOSUPPORT:
		return "written by a newer dlprof; use that version's dlprof-report";
	case ENOSPC:
		return "no space left on device";
	case EBUSY:
		return "the database is locked by another program";
	case ETIME:
		return "to read it takes longer than a file of its size can need: damaged, or "
		       "made to; if it is yours, open it with sqlite3";
	case ENOBUFS:
		return "to read it takes more memory than a file of its size can need: damaged, "
		       "or made to; if it is yours, open it with sqlite3";
	case EUCLEAN:
		return door_words();
	case ENOLINK:
		return "it was copied while it recorded, without what is in its -wal: copy both, "
		       "or when the run is over";
	case ENOMEM:
		return "out of memory";
	default:
		return "input/output error";
	}
}

int db_run(struct db *db, const char *sql)
{
	return db_errno(sqlite3_exec(db->handle, sql, NULL, NULL, NULL));
}

int db_begin(struct db *db)
{
	const int r = db_run(db, "BEGIN IMMEDIATE");

	db->begins_late = db->begins_late && r < 0;
	return r;
}

void db_begin_late(struct db *db)
{
	db->begins_late = true;
}

static int end(struct db *db, const char *sql)
{
	const bool has_begun = !db->begins_late;

	db->begins_late = false;
	return has_begun ? db_run(db, sql) : 0;
}

int db_commit(struct db *db)
{
	return end(db, "COMMIT");
}

int db_rollback(struct db *db)
{
	return end(db, "ROLLBACK");
}
