/* SPDX-License-Identifier: Apache-2.0 */
#include "store/database/db_open.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/database/copy.h"
#include "store/database/door.h"
#include "store/database/guard.h"
#include "store/database/handle.h"
#include "store/database/rows.h"
#include "store/database/schema.h"

#define WHOLE_BYTES      (1 << 20) /* smaller files are read at once: some 9,000 batches */
#define WHOLE_TRIES      3
#define WHOLE_SQL        "PRAGMA cache_size = -64" /* 64 KiB: the whole file is in memory anyway */
#define HEAD_BYTES       100 /* size of SQLite's header, which has a counter of changes */
#define MODES_AT         18 /* offset in the header of two format versions; 2: WAL mode */
#define CLOSE_TRIES      40
#define CLOSE_PAUSE_MS   50
#define BUSY_MS          2000
#define CHECKPOINT_PAGES 1000 /* SQLite's default for the length of a log */

/* Returns true if there are no tables, since they were in a write-ahead log that is missing. */
static bool lacks_log(struct db *db)
{
	int64_t tables = -1;
	ROWS *statement = NULL;
	char mode[8];

	if (rows_number(db, "SELECT COUNT(*) FROM sqlite_schema", &tables) < 0 || tables ||
	    rows_prepare(db, "PRAGMA journal_mode", &statement) < 0 || rows_next(statement) < 1)
		return false;
	rows_fill(statement, 0, REDACT_NOT, mode, sizeof(mode));
	return strcmp(mode, "wal") == 0;
}

static int check_identity(struct db *db, int64_t *ret_version)
{
	int64_t id;
	int r;

	r = rows_number(db, "PRAGMA application_id", &id);
	if (r == 0)
		r = rows_number(db, "PRAGMA user_version", ret_version);
	if (r < 0)
		return r;
	if (id != DB_APPLICATION_ID)
		return !id && lacks_log(db) ? -ENOLINK : -EMEDIUMTYPE;
	return *ret_version > DB_SCHEMA_VERSION ? -EPROTONOSUPPORT : 0;
}

/* Tells redact() the host's name: any text of the run may contain it. */
static void redact_host(struct db *db)
{
	ROWS *statement = NULL;

	if (rows_prepare(db, "SELECT value FROM t_meta WHERE key = 'host'", &statement) == 0 &&
	    rows_next(statement) == 1)
		rows_text(statement, 0, REDACT_HOST);
}

static int open_handle(const char *path, enum door_use use, struct db **ret_db)
{
	struct db *db = calloc(1, sizeof(*db));
	int r = db ? guard_open(db, path, use, BUSY_MS) : -ENOMEM;

	if (r < 0) {
		db_close(db);
		return r;
	}
	*ret_db = db;
	return 0;
}

static int check_read(struct db *db, const char *sql, const struct stat *file, struct db **ret_db)
{
	int64_t version;
	int r;

	guard_limit(db, file);
	r = sql ? db_run(db, sql) : 0;
	if (r == 0)
		r = check_identity(db, &version);
	if (r == 0)
		r = guard_check_read(db);
	if (r == 0 && version < DB_SCHEMA_VERSION)
		r = schema_complete(db, true);
	if (r < 0) {
		db_close(db);
		return r;
	}
	if (redact_is_on())
		redact_host(db);
	*ret_db = db;
	return 0;
}

static int open_checked(const char *path, enum door_use use, const char *sql,
			const struct stat *file, struct db **ret_db)
{
	struct db *db;
	int r = open_handle(path, use, &db);

	return r < 0 ? r : check_read(db, sql, file, ret_db);
}

static bool read_whole(int fd, unsigned char *to, const struct stat *before)
{
	unsigned char head[HEAD_BYTES];
	struct stat after;

	return pread(fd, to, (size_t)before->st_size, 0) == before->st_size &&
	       pread(fd, head, HEAD_BYTES, 0) == HEAD_BYTES && fstat(fd, &after) == 0 &&
	       memcmp(to, head, HEAD_BYTES) == 0 && after.st_size == before->st_size &&
	       after.st_mtim.tv_sec == before->st_mtim.tv_sec &&
	       after.st_mtim.tv_nsec == before->st_mtim.tv_nsec;
}

/* Opens a copy: to read a log in place, SQLite needs -shm and locks. */
static int open_copy(const char *path, const struct stat *file, struct db **ret_db)
{
	char copy[4096];
	int r = copy_aside(path, copy, sizeof(copy));

	if (r < 0)
		return r;
	r = open_checked(copy, DOOR_WRITE, "PRAGMA locking_mode = EXCLUSIVE", file, ret_db);
	if (r == 0)
		sqlite3_db_config((*ret_db)->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	copy_remove(copy);
	return r;
}

/* Returns true if the error may be the file system's fault, such as one without locks. */
static bool is_of_place(int error)
{
	return error == -ENOENT || error == -EROFS || error == -EACCES || error == -EIO ||
	       error == -EBUSY;
}

static bool has_journal(const char *path)
{
	char name[4200];
	struct stat status;

	snprintf(name, sizeof(name), "%s-journal", path);
	return lstat(name, &status) == 0;
}

static int take_whole(const char *path, struct door *door, unsigned char **ret)
{
	int r = -EAGAIN;

	*ret = NULL;
	for (int tries = 0; r == -EAGAIN && tries < WHOLE_TRIES; tries++) {
		if (fstat(door->fd, &door->file) < 0 || door->file.st_size < HEAD_BYTES ||
		    door->file.st_size > WHOLE_BYTES)
			return -EFBIG;
		sqlite3_free(*ret);
		*ret = sqlite3_malloc64((sqlite3_uint64)door->file.st_size);
		if (!*ret)
			r = -ENOMEM;
		else if (read_whole(door->fd, *ret, &door->file) && !has_journal(path))
			r = (*ret)[MODES_AT] == 1 ? 0 : -EFBIG;
	}
	return r;
}

/* Reads a small file at once: on a network file system, each lock and each page takes long. */
static int open_whole(const char *path, struct door *door, struct db **ret_db)
{
	unsigned char *bytes;
	struct db *db = NULL;
	int r = take_whole(path, door, &bytes);

	if (r == 0)
		r = open_handle(":memory:", DOOR_MEMORY, &db);
	if (r < 0) {
		sqlite3_free(bytes);
		return r;
	}
	r = db_errno(sqlite3_deserialize(
		db->handle, "main", bytes, door->file.st_size, door->file.st_size,
		SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY));
	if (r == 0)
		return check_read(db, WHOLE_SQL, &door->file, ret_db);
	db_close(db);
	return r;
}

/* Opens a database without locks, and without making files beside it. */
static int open_apart(const char *path, const struct door *door, struct db **ret_db)
{
	return door->has_log ? open_copy(path, &door->file, ret_db)
			     : open_checked(path, DOOR_SNAPSHOT, NULL, &door->file, ret_db);
}

static int open_in_place(const char *path, const struct door *door, struct db **ret_db)
{
	const bool at_rest = !door->has_journal && !door->is_logged;
	int r;

	if (!door->file.st_size)
		return -ENODATA;
	/* For root, SQLite would make files that the database's owner may change. */
	if (door->is_foreign && (door->is_logged || door->has_journal))
		return open_apart(path, door, ret_db);
	/* BEGIN holds the read lock until the database is closed. Writers wait until then. */
	r = open_checked(path, DOOR_READ, at_rest ? "BEGIN" : NULL, &door->file, ret_db);
	/* A journal means that another process is writing the file now. */
	return is_of_place(r) && !door->has_journal ? open_apart(path, door, ret_db) : r;
}

int db_open_read(const char *path, struct db **ret_db)
{
	struct door door;
	int r = door_look(path, &door);
	const bool is_whole = r == 0 && !door.has_journal && !door.is_logged &&
			      open_whole(path, &door, ret_db) == 0;

	/* SQLite opens the file after this, as closing the door releases all locks of the file. */
	door_close(&door);
	return r < 0 || is_whole ? r : open_in_place(path, &door, ret_db);
}

/* Prepares writing. First makes sure that a file with tables is dlprof's. */
static int prepare_write(struct db *db, bool is_logged)
{
	int64_t tables, version = DB_SCHEMA_VERSION, id = 0;
	int r = rows_number(db, "SELECT count(*) FROM sqlite_schema", &tables);

	if (r == 0 && tables)
		r = check_identity(db, &version);
	else if (r == 0)
		r = rows_number(db, "PRAGMA application_id", &id);
	if (r == 0 && id)
		r = -EMEDIUMTYPE;
	if (r == 0 && tables)
		r = guard_check_write(db);
	if (r == 0 && !tables)
		r = db_run(db, "PRAGMA synchronous = OFF");
	/* The switch to WAL mode writes one page: its journal need not be on disk. */
	if (r == 0 && !is_logged)
		r = db_run(db, "PRAGMA journal_mode = MEMORY");
	/* With a log, readers never block the writer. */
	if (r == 0)
		r = db_run(db, "PRAGMA journal_mode = WAL");
	if (r == 0 && !tables)
		r = schema_create(db);
	/* NORMAL: only checkpoints wait for the disk. If the process is killed, nothing is lost. */
	if (r == 0)
		r = db_run(db, "PRAGMA synchronous = NORMAL");
	return r < 0 || version == DB_SCHEMA_VERSION ? r : schema_upgrade(db, version);
}

static int look_to_write(const char *path, bool *ret_is_logged)
{
	struct door door;
	int r = door_look(path, &door);

	door_close(&door);
	*ret_is_logged = door.is_logged;
	/* Only the owner may read a new file, and the files that SQLite makes beside it. */
	if (r == -ENOENT)
		return door_make(path, 0600);
	if (r == 0 && door.file.st_uid != geteuid())
		return -EPERM;
	return r == 0 && access(path, W_OK) < 0 ? -errno : r;
}

int db_open_write(const char *path, struct db **ret_db)
{
	struct db *db = NULL;
	bool is_logged;
	int r = look_to_write(path, &is_logged);

	if (r == 0)
		r = open_handle(path, DOOR_WRITE, &db);
	if (r < 0)
		return r;
	/* A log must not be merged into a file that is not dlprof's. */
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	r = prepare_write(db, is_logged);
	if (r < 0) {
		db_close(db);
		return r;
	}
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	db->writes = true;
	*ret_db = db;
	return 0;
}

static int empty_log(struct db *db)
{
	int64_t busy;
	int r = rows_number(db, "PRAGMA wal_checkpoint(TRUNCATE)", &busy);

	return r == 0 && busy ? -EBUSY : r;
}

int db_freeze(struct db *db)
{
	int r;

	sqlite3_busy_timeout(db->handle, 0);
	r = empty_log(db);
	sqlite3_busy_timeout(db->handle, BUSY_MS);
	if (r == 0)
		sqlite3_wal_autocheckpoint(db->handle, 0);
	return r;
}

void db_thaw(struct db *db)
{
	sqlite3_wal_autocheckpoint(db->handle, CHECKPOINT_PAGES);
}

void db_be_lean(void)
{
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/* Leaves WAL mode: this changes only the file's header, so it needs no journal and no sync. */
static int remove_log(struct db *db)
{
	int r = empty_log(db);

	return r < 0 ? r : db_run(db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY");
}

void db_close(struct db *db)
{
	if (!db)
		return;
	/* Nobody will commit an open transaction, and it keeps the log in use. */
	if (db->writes && !sqlite3_get_autocommit(db->handle))
		db_run(db, "ROLLBACK");
	/* remove_log() fails while somebody reads, but most readers finish soon. */
	if (db->writes)
		sqlite3_busy_timeout(db->handle, 0);
	for (int tries = 0; db->writes && tries < CLOSE_TRIES; tries++) {
		if (remove_log(db) != -EBUSY)
			break;
		sqlite3_sleep(CLOSE_PAUSE_MS);
	}
	sqlite3_close(db->handle);
	free(db);
}
