/* SPDX-License-Identifier: Apache-2.0 */
#include "store/database/handle.h"

#include <errno.h>
#include <sqlite3.h>
#include <stddef.h>

#include "dlprof/units.h"
#include "store/database/door.h"

static int interrupted = -ETIME;

void db_interrupt(int error)
{
	interrupted = error;
}

int db_errno(int sqlite_result)
{
	/* dlprof's statements are correct: SQLITE_ERROR means missing tables or columns. */
	static const int errors[] = {
		[SQLITE_FULL] = ENOSPC,      [SQLITE_READONLY] = EROFS,   [SQLITE_PERM] = EACCES,
		[SQLITE_AUTH] = EACCES,      [SQLITE_CANTOPEN] = ENOENT,  [SQLITE_BUSY] = EBUSY,
		[SQLITE_LOCKED] = EBUSY,     [SQLITE_NOMEM] = ENOMEM,     [SQLITE_TOOBIG] = EBADMSG,
		[SQLITE_CORRUPT] = EBADMSG,  [SQLITE_NOTADB] = EBADMSG,   [SQLITE_FORMAT] = EBADMSG,
		[SQLITE_MISMATCH] = EBADMSG, [SQLITE_ERROR] = EBADMSG,
	};
	const int result = sqlite_result & 0xff;

	if (result == SQLITE_OK || result == SQLITE_ROW || result == SQLITE_DONE)
		return 0;
	/* SQLite's error code does not tell whether door.h refused a file. */
	if (door_take_refusal())
		return -EUCLEAN;
	if (result == SQLITE_INTERRUPT)
		return interrupted;
	return result < (int)ARRAY_COUNT(errors) && errors[result] ? -errors[result] : -EIO;
}

const char *db_error(int error)
{
	static const struct {
		int error;
		const char *words;
	} rows[] = {
		{ENOENT, "no such file"},
		{EISDIR, "is a directory"},
		{EACCES, "permission denied"},
		{EPERM, "permission denied"},
		{EROFS, "the file or its folder is read-only"},
		{ENODATA, "the file is empty: that run stored nothing"},
		{EBADMSG, "damaged, or not a dlprof database"},
		{EMEDIUMTYPE, "an SQLite database, but not one of dlprof's"},
		{EPROTONOSUPPORT, "written by a newer dlprof; use that version's dlprof-report"},
		{ENOSPC, "no space left on device"},
		{EBUSY, "the database is locked by another program"},
		{ETIME, "to read it takes longer than a file of its size can need: damaged, or "
			"made to; if it is yours, open it with sqlite3"},
		{ENOBUFS, "to read it takes more memory than a file of its size can need: damaged, "
			  "or made to; if it is yours, open it with sqlite3"},
		{ENOLINK, "it was copied while it recorded, without what is in its -wal: copy both,"
			  " or when the run is over"},
		{ENOMEM, "out of memory"},
	};
	const int number = error < 0 ? -error : error;

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		if (rows[i].error == number)
			return rows[i].words;
	return number == EUCLEAN ? door_words() : "input/output error";
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
