/* SPDX-License-Identifier: Apache-2.0 */
#include "store/db.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema_sql.h"
#include "store/rows.h"

#define CLOSE_TRIES    40
#define CLOSE_PAUSE_MS 50

struct db {
	sqlite3 *handle;
	bool writes;
};

struct sqlite3 *db_handle(struct db *db)
{
	return db->handle;
}

int db_errno(int sqlite_result)
{
	switch (sqlite_result & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
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
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_FORMAT:
	case SQLITE_MISMATCH:
	case SQLITE_ERROR: /* our statements are right: a table is missing or misshapen */
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
	case ENOMEM:
		return "out of memory";
	default:
		return "input/output error";
	}
}

static int run_sql(struct db *db, const char *sql)
{
	return db_errno(sqlite3_exec(db->handle, sql, NULL, NULL, NULL));
}

static int read_pragma(struct db *db, const char *sql, int64_t *ret_value)
{
	sqlite3_stmt *statement;
	int r;

	r = db_errno(sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL));
	if (r < 0)
		return r;
	r = sqlite3_step(statement);
	*ret_value = r == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
	sqlite3_finalize(statement);
	return db_errno(r);
}

/* SQLite says CANTOPEN for many things; the file itself tells more. */
static int check_file(const char *path)
{
	struct stat status;
	int fd;

	if (stat(path, &status) < 0)
		return -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	close(fd);
	return status.st_size ? 0 : -ENODATA;
}

static int check_identity(struct db *db)
{
	int64_t id, version;
	int r;

	r = read_pragma(db, "PRAGMA application_id", &id);
	if (r == 0)
		r = read_pragma(db, "PRAGMA user_version", &version);
	if (r < 0)
		return r;
	if (id != DB_APPLICATION_ID)
		return -EMEDIUMTYPE;
	return version > DB_SCHEMA_VERSION ? -EPROTONOSUPPORT : 0;
}

/* Its name may stand in any text of the run. */
static void redact_host(struct db *db)
{
	sqlite3_stmt *statement = NULL;
	int r = sqlite3_prepare_v2(db->handle, "SELECT value FROM t_meta WHERE key = 'host'", -1,
				   &statement, NULL);

	if (r == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
		rows_text(statement, 0, REDACT_HOST);
	sqlite3_finalize(statement);
}

static int open_handle(const char *path, int flags, struct db **ret_db)
{
	struct db *db = calloc(1, sizeof(*db));
	int r;

	if (!db)
		return -ENOMEM;
	r = sqlite3_open_v2(path, &db->handle, flags, NULL);
	if (r != SQLITE_OK) {
		db_close(db);
		return db_errno(r);
	}
	sqlite3_extended_result_codes(db->handle, 1);
	sqlite3_busy_timeout(db->handle, 2000);
	*ret_db = db;
	return 0;
}

/*
 * A database in WAL mode needs its -shm file even to be read; where that cannot be made (another
 * user's folder, read-only media) what the main file holds is read as it stands.
 */
static int open_immutable(const char *path, struct db **ret_db)
{
	char *uri = sqlite3_mprintf("file:%s?immutable=1", path);
	int r;

	if (!uri)
		return -ENOMEM;
	r = open_handle(uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, ret_db);
	sqlite3_free(uri);
	return r;
}

int db_open_read(const char *path, struct db **ret_db)
{
	struct db *db;
	int r;

	r = check_file(path);
	if (r < 0)
		return r;
	/* One thread reads, so that no call needs a lock. */
	r = open_handle(path, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, &db);
	if (r < 0)
		return r;
	r = check_identity(db);
	if ((r == -ENOENT || r == -EROFS) && !strpbrk(path, "?#%")) {
		db_close(db);
		r = open_immutable(path, &db);
		if (r < 0)
			return r;
		r = check_identity(db);
	}
	if (r < 0) {
		db_close(db);
		return r;
	}
	if (redact_is_on())
		redact_host(db);
	*ret_db = db;
	return 0;
}

static int create_tables(struct db *db)
{
	char *pragmas = sqlite3_mprintf("PRAGMA application_id = %d; PRAGMA user_version = %d;",
					DB_APPLICATION_ID, DB_SCHEMA_VERSION);
	int r = pragmas ? db_begin(db) : -ENOMEM;

	if (r == 0)
		r = run_sql(db, pragmas);
	sqlite3_free(pragmas);
	if (r == 0)
		r = run_sql(db, schema_sql);
	if (r < 0) {
		db_rollback(db);
		return r;
	}
	return db_commit(db);
}

/* Makes what the schema has under this name ("VIEW mark"), unless it is there. */
static int make_of_schema(struct db *db, const char *what)
{
	char *sql = sqlite3_mprintf("SELECT count(*) FROM sqlite_schema WHERE name = '%q'",
				    strchr(what, ' ') + 1);
	const char *at, *end = NULL;
	int64_t found = 0;
	int r = sql ? read_pragma(db, sql, &found) : -ENOMEM;

	sqlite3_free(sql);
	if (r < 0 || found)
		return r;
	sql = sqlite3_mprintf("CREATE %s ", what);
	at = sql ? strstr(schema_sql, sql) : NULL;
	sqlite3_free(sql);
	if (at)
		end = strchr(at, ';');
	sql = end ? sqlite3_mprintf("%.*s", (int)(end - at), at) : NULL;
	r = sql ? run_sql(db, sql) : -ENOMEM;
	sqlite3_free(sql);
	return r;
}

/* To what this version writes. Nobody wrote into t_gap and t_gpu_kernel before version 3. */
static int upgrade_tables(struct db *db)
{
	static const char *const added[] = {
		"TABLE t_mark",    "VIEW mark",        "TABLE t_gap",   "VIEW gap",
		"VIEW gpu_kernel", "TABLE t_gpu_step", "VIEW gpu_step", "TABLE t_gpu_device",
		"VIEW gpu_device", "TABLE t_gpu_call", "VIEW gpu_call"};
	char version_sql[48];
	int64_t version;
	int r = check_identity(db);

	if (r == 0)
		r = read_pragma(db, "PRAGMA user_version", &version);
	if (r < 0 || version == DB_SCHEMA_VERSION)
		return r;
	r = db_begin(db);
	if (r < 0)
		return r;
	if (version < 3)
		r = run_sql(db, "DROP VIEW IF EXISTS gap; DROP VIEW IF EXISTS gpu_kernel;"
				"DROP TABLE IF EXISTS t_gap; DROP TABLE IF EXISTS t_gpu_kernel;");
	if (r == 0 && version > 1 && version < 4)
		r = run_sql(db, "DROP VIEW mark; ALTER TABLE t_mark ADD COLUMN ns INTEGER;");
	for (size_t i = 0; r == 0 && i < sizeof(added) / sizeof(added[0]); i++)
		r = make_of_schema(db, added[i]);
	snprintf(version_sql, sizeof(version_sql), "PRAGMA user_version = %d", DB_SCHEMA_VERSION);
	if (r == 0)
		r = run_sql(db, version_sql);
	if (r < 0) {
		db_rollback(db);
		return r;
	}
	return db_commit(db);
}

int db_open_write(const char *path, struct db **ret_db)
{
	int64_t tables;
	struct db *db;
	int r;

	r = check_file(path);
	if (r < 0 && r != -ENOENT && r != -ENODATA)
		return r;
	if (r == 0 && access(path, W_OK) < 0)
		return -errno;
	/* One thread writes, too. */
	r = open_handle(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			&db);
	if (r < 0)
		return r;
	/*
	 * WAL: readers never stop the writer. NORMAL: nothing waits for the disk but a checkpoint:
	 * a power cut costs what the kernel had not written yet, a kill nothing.
	 */
	r = run_sql(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
	if (r == 0)
		r = read_pragma(db, "SELECT count(*) FROM sqlite_schema", &tables);
	if (r == 0)
		r = tables ? upgrade_tables(db) : create_tables(db);
	if (r < 0) {
		db_close(db);
		return r;
	}
	db->writes = true;
	*ret_db = db;
	return 0;
}

void db_close(struct db *db)
{
	if (!db)
		return;
	/* Refused while somebody reads; most readers are done soon, and none can do it later. */
	sqlite3_busy_timeout(db->handle, 0);
	for (int tries = 0; db->writes && tries < CLOSE_TRIES; tries++) {
		if (run_sql(db, "PRAGMA journal_mode = DELETE") != -EBUSY)
			break;
		sqlite3_sleep(CLOSE_PAUSE_MS);
	}
	sqlite3_close(db->handle);
	free(db);
}

int db_begin(struct db *db)
{
	return run_sql(db, "BEGIN IMMEDIATE");
}

int db_commit(struct db *db)
{
	return run_sql(db, "COMMIT");
}

int db_rollback(struct db *db)
{
	return run_sql(db, "ROLLBACK");
}
