/* SPDX-License-Identifier: Apache-2.0 */
#include "store/db_open.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dlprof/units.h"
#include "store/copy.h"
#include "store/guard.h"
#include "store/handle.h"
#include "store/rows.h"
#include "store/schema.h"

#define WHOLE_BYTES      (1 << 20) /* some 9,000 batches */
#define WHOLE_TRIES      3
#define WHOLE_SQL        "PRAGMA cache_size = -64" /* KiB: its pages are in memory already */
#define HEAD_BYTES       100 /* SQLite's: its counter of changes, how it is written, and more */
#define MODES_AT         18  /* in it; 2: with a log */
#define CLOSE_TRIES      40
#define CLOSE_PAUSE_MS   50
#define BUSY_MS          2000
#define CHECKPOINT_PAGES 1000 /* as SQLite has it */

/* SQLite says CANTOPEN for many things; the file itself tells more. */
static int check_file(const char *path, struct stat *ret)
{
	int fd;

	/* What is no file could keep us waiting for its other end. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, ret) < 0) {
		int r = -errno;

		if (fd >= 0)
			close(fd);
		return r;
	}
	close(fd);
	if (!S_ISREG(ret->st_mode))
		return S_ISDIR(ret->st_mode) ? -EISDIR : -EBADMSG;
	return ret->st_size ? 0 : -ENODATA;
}

/* Empty, and in WAL mode: where it was written, its tables are in the log. */
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

/* Its name may stand in any text of the run. */
static void redact_host(struct db *db)
{
	ROWS *statement = NULL;

	if (rows_prepare(db, "SELECT value FROM t_meta WHERE key = 'host'", &statement) == 0 &&
	    rows_next(statement) == 1)
		rows_text(statement, 0, REDACT_HOST);
}

static int open_handle(const char *path, int flags, struct db **ret_db)
{
	struct db *db = calloc(1, sizeof(*db));
	int r = db ? guard_open(db, path, flags, BUSY_MS) : -ENOMEM;

	if (r < 0) {
		db_close(db);
		return r;
	}
	*ret_db = db;
	return 0;
}

/* Sees that it is one of ours, and makes it ready to be read; otherwise closes it. */
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
		r = schema_lend(db);
	if (r < 0) {
		db_close(db);
		return r;
	}
	if (redact_is_on())
		redact_host(db);
	*ret_db = db;
	return 0;
}

/* Opens it for reading, by a path or a URI. */
static int open_checked(const char *path, int flags, const char *sql, const struct stat *file,
			struct db **ret_db)
{
	struct db *db;
	int r = open_handle(path, flags, &db);

	return r < 0 ? r : check_read(db, sql, file, ret_db);
}

/* False: it could not be read, or was written meanwhile. */
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

/* As it stands: nothing is locked, and nobody may write. */
static int open_immutable(const char *path, const struct stat *file, struct db **ret_db)
{
	static const char start[] = "file:", end[] = "?immutable=1", digits[] = "0123456789ABCDEF";
	char *uri = malloc(sizeof(start) + 3 * strlen(path) + sizeof(end)), *to = uri;
	int r;

	if (!uri)
		return -ENOMEM;
	to = stpcpy(to, start);
	for (; *path; path++) {
		if (!strchr("?#%", *path)) {
			*to++ = *path;
			continue;
		}
		*to++ = '%';
		*to++ = digits[(unsigned char)*path >> 4];
		*to++ = digits[*path & 15];
	}
	strcpy(to, end);
	r = open_checked(uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL, file, ret_db);
	free(uri);
	return r;
}

/* With a log that cannot be read in place, for want of its -shm or of locks. */
static int open_copy(const char *path, const struct stat *file, struct db **ret_db)
{
	char copy[4096];
	int r = copy_aside(path, copy, sizeof(copy));

	if (r < 0)
		return r;
	r = open_checked(copy, SQLITE_OPEN_READWRITE, "PRAGMA locking_mode = EXCLUSIVE", file,
			 ret_db);
	if (r == 0)
		sqlite3_db_config((*ret_db)->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	copy_remove(copy);
	return r;
}

/* The size of what has this name but for its end; -1: there is none. */
static int64_t size_of(const char *path, const char *end)
{
	char name[4200];
	struct stat status;

	return snprintf(name, sizeof(name), "%s%s", path, end) < (int)sizeof(name) &&
			       stat(name, &status) == 0
		       ? status.st_size
		       : -1;
}

static bool has_bytes(const char *path, const char *end)
{
	return size_of(path, end) > 0;
}

/*
 * In WAL mode a database needs its -shm file even to be read, and any needs locks; another user's
 * folder, read-only media and network file systems have not always both.
 */
static bool is_of_place(int error)
{
	return error == -ENOENT || error == -EROFS || error == -EACCES || error == -EIO ||
	       error == -EBUSY;
}

/* Whoever has it open to write has one of these beside it, or may have. */
static bool is_at_rest(const char *path)
{
	return size_of(path, "-journal") < 0 && size_of(path, "-wal") < 0;
}

/* All of what is at rest and small; to be freed by sqlite3_free(). */
static int take_whole(const char *path, struct stat *status, unsigned char **ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r = -EAGAIN;

	*ret = NULL;
	if (fd < 0)
		return -errno;
	for (int tries = 0; r == -EAGAIN && tries < WHOLE_TRIES; tries++) {
		if (fstat(fd, status) < 0 || !S_ISREG(status->st_mode) ||
		    status->st_size < HEAD_BYTES || status->st_size > WHOLE_BYTES) {
			r = -EFBIG;
			break;
		}
		sqlite3_free(*ret);
		*ret = sqlite3_malloc64((sqlite3_uint64)status->st_size);
		if (!*ret)
			r = -ENOMEM;
		else if (read_whole(fd, *ret, status) && size_of(path, "-journal") < 0)
			r = (*ret)[MODES_AT] == 1 ? 0 : -EFBIG;
	}
	close(fd);
	return r;
}

/*
 * Of a thousand finished runs on a network file system every lock and every page is a journey, and
 * yet a drain may take any of them up again. So a small one is read at once, and again if it was
 * written meanwhile.
 */
static int open_whole(const char *path, struct db **ret_db)
{
	unsigned char *bytes;
	struct stat status;
	struct db *db = NULL;
	int r = take_whole(path, &status, &bytes);

	if (r == 0)
		r = open_handle(":memory:", SQLITE_OPEN_READWRITE, &db);
	if (r < 0) {
		sqlite3_free(bytes);
		return r;
	}
	r = db_errno(
		sqlite3_deserialize(db->handle, "main", bytes, status.st_size, status.st_size,
				    SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY));
	if (r == 0)
		return check_read(db, WHOLE_SQL, &status, ret_db);
	db_close(db);
	return r;
}

int db_open_read(const char *path, struct db **ret_db)
{
	const bool at_rest = is_at_rest(path);
	struct stat status;
	int r;

	if (at_rest && open_whole(path, ret_db) == 0)
		return 0;
	r = check_file(path, &status);
	if (r < 0)
		return r;
	/* One lock for all that is read, and a drain that takes it up again waits for its end. */
	r = open_checked(path, SQLITE_OPEN_READONLY, at_rest ? "BEGIN" : NULL, &status, ret_db);
	/* With a journal somebody is in the middle of a change. */
	if (!is_of_place(r) || has_bytes(path, "-journal"))
		return r;
	return has_bytes(path, "-wal") ? open_copy(path, &status, ret_db)
				       : open_immutable(path, &status, ret_db);
}

/* A new file is its owner's alone, and with it what SQLite puts beside it. */
static int make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* Into what somebody else put there nothing is written. */
static int check_owner(const char *path, const struct stat *status)
{
	static const char *const beside[] = {"-wal", "-journal"};
	char name[4200];
	struct stat other;

	if (status->st_uid != geteuid())
		return -EPERM;
	for (size_t i = 0; i < ARRAY_COUNT(beside); i++) {
		snprintf(name, sizeof(name), "%s%s", path, beside[i]);
		if (lstat(name, &other) == 0 &&
		    (!S_ISREG(other.st_mode) || other.st_uid != geteuid()))
			return -EPERM;
	}
	return access(path, W_OK) < 0 ? -errno : 0;
}

static int prepare_write(struct db *db)
{
	int64_t tables, version;
	int r = rows_number(db, "SELECT count(*) FROM sqlite_schema", &tables);

	/* Nothing is there that could be damaged. */
	if (r == 0 && !tables)
		r = db_run(db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY");
	/* WAL: readers never stop the writer. */
	if (r == 0)
		r = db_run(db, "PRAGMA journal_mode = WAL");
	if (r == 0 && !tables)
		r = schema_create(db);
	/*
	 * NORMAL: nothing waits for the disk but a checkpoint: a power cut costs what the kernel
	 * had not written yet, a kill nothing.
	 */
	if (r == 0)
		r = db_run(db, "PRAGMA synchronous = NORMAL");
	if (r < 0 || !tables)
		return r;
	r = check_identity(db, &version);
	if (r == 0)
		r = guard_check_write(db);
	return r < 0 || version == DB_SCHEMA_VERSION ? r : schema_upgrade(db, version);
}

int db_open_write(const char *path, struct db **ret_db)
{
	struct stat status;
	struct db *db = NULL;
	int r;

	r = check_file(path, &status);
	if (r == -ENOENT)
		r = make_file(path);
	else if (r == 0 || r == -ENODATA)
		r = check_owner(path, &status);
	if (r == 0)
		r = open_handle(path, SQLITE_OPEN_READWRITE, &db);
	if (r < 0)
		return r;
	r = prepare_write(db);
	if (r < 0) {
		db_close(db);
		return r;
	}
	db->writes = true;
	*ret_db = db;
	return 0;
}

/* What is in the log goes into the file. */
static int empty_log(struct db *db)
{
	int64_t busy;
	int r = rows_number(db, "PRAGMA wal_checkpoint(TRUNCATE)", &busy);

	return r == 0 && busy ? -EBUSY : r;
}

void db_limit_anew(void)
{
	guard_anew();
}

void db_limit_renew(struct db *db)
{
	guard_renew(db);
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

/*
 * The log goes, too: when it is empty, only the mark in the file's head changes that there is one.
 * That is one write, and needs no journal and no waiting for the disk.
 */
static int remove_log(struct db *db)
{
	int r = empty_log(db);

	return r < 0 ? r : db_run(db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY");
}

void db_close(struct db *db)
{
	if (!db)
		return;
	/* What is not committed goes in any case, and would be in the way until then. */
	if (db->writes && !sqlite3_get_autocommit(db->handle))
		db_run(db, "ROLLBACK");
	/* Refused while somebody reads; most readers are done soon, and none can do it later. */
	sqlite3_busy_timeout(db->handle, 0);
	for (int tries = 0; db->writes && tries < CLOSE_TRIES; tries++) {
		if (remove_log(db) != -EBUSY)
			break;
		sqlite3_sleep(CLOSE_PAUSE_MS);
	}
	sqlite3_close(db->handle);
	free(db);
}
