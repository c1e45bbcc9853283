/* SPDX-License-Identifier: Apache-2.0 */
#include "store/database/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "dlprof/units.h"

/* number of SQLite's operations between two checks of the limits: some milliseconds */
#define EVERY_OPS   100000
/* for files larger than this, the limits below grow in proportion to the size */
#define FILE_BYTES  (100 << 20)
#define MOST_NS	    (8 * (uint64_t)NS_PER_S) /* CPU time: twice what a run of FILE_BYTES needs */
#define MOST_BYTES  (INT64_C(640) << 20)
#define MOST_TABLES 100 /* most tables, views and indices; our schema has 60 */

static const struct {
	int limit, most;
} LIMITS[] = {
	{SQLITE_LIMIT_LENGTH, 16 << 20}, /* a pack's largest part has 4 MB */
	{SQLITE_LIMIT_SQL_LENGTH, 1 << 18},
	{SQLITE_LIMIT_COLUMN, 200},
	{SQLITE_LIMIT_EXPR_DEPTH, 200},
	{SQLITE_LIMIT_COMPOUND_SELECT, 24}, /* trace.sql joins 21 */
	{SQLITE_LIMIT_VDBE_OP, 50000},
	{SQLITE_LIMIT_FUNCTION_ARG, 20},
	{SQLITE_LIMIT_ATTACHED, 0},
	{SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100},
	{SQLITE_LIMIT_VARIABLE_NUMBER, 200},
	{SQLITE_LIMIT_TRIGGER_DEPTH, 1},
	{SQLITE_LIMIT_WORKER_THREADS, 0},
};

static const struct {
	int setting, value;
} SETTINGS[] = {
	{SQLITE_DBCONFIG_DEFENSIVE, 1},
	{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
	{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
	/* turns off views of the file, not the temporary views of schema.c */
	{SQLITE_DBCONFIG_ENABLE_VIEW, 0},
};

/* Finds tables that are not plain: a generated column runs functions of its author's choice. */
static const char ODD_SQL[] =
	"SELECT (SELECT COUNT(*) FROM sqlite_schema) > ?1 OR EXISTS (SELECT 1 FROM sqlite_schema s"
	" WHERE type = 'table' AND (sql NOT LIKE 'CREATE TABLE%'"
	"  OR EXISTS (SELECT 1 FROM pragma_table_xinfo(s.name) WHERE hidden <> 0)))";

/* Finds checks, defaults and created indexes: their expressions run when a row is written. */
static const char LOADED_SQL[] =
	"SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE sql LIKE '%CHECK%'"
	" OR sql LIKE '%DEFAULT%' OR (type = 'index' AND sql NOT NULL))";

static uint64_t cpu_ns(void)
{
	struct timespec time;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) < 0)
		return 0;
	return (uint64_t)time.tv_sec * (uint64_t)NS_PER_S + (uint64_t)time.tv_nsec;
}

static int64_t memory_bytes(void)
{
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	char text[80] = "";
	long long pages = 0;

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) > 0)
		sscanf(text, "%*d %lld", &pages);
	close(fd);
	return pages * sysconf(_SC_PAGESIZE);
}

static int look(void *context)
{
	const struct db *db = context;

	if (cpu_ns() > db->until_ns)
		db_interrupt(-ETIME);
	else if (memory_bytes() > db->most_bytes)
		db_interrupt(-ENOBUFS);
	else
		return 0;
	return 1;
}

static int set(struct db *db)
{
	int r = SQLITE_OK;

	for (size_t i = 0; i < ARRAY_COUNT(LIMITS); i++)
		sqlite3_limit(db->handle, LIMITS[i].limit, LIMITS[i].most);
	for (size_t i = 0; r == SQLITE_OK && i < ARRAY_COUNT(SETTINGS); i++)
		r = sqlite3_db_config(db->handle, SETTINGS[i].setting, SETTINGS[i].value, NULL);
	if (r != SQLITE_OK)
		return db_errno(r);
	return db_run(db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0");
}

int guard_open(struct db *db, const char *path, enum door_use use, int wait_ms)
{
	int result = SQLITE_OK, r = door_open(path, use, &db->handle, &result);

	if (r == 0)
		r = db_errno(result);
	if (r == 0)
		r = set(db);
	if (r < 0)
		return r;
	sqlite3_extended_result_codes(db->handle, 1);
	sqlite3_busy_timeout(db->handle, wait_ms);
	return 0;
}

bool guard_is_spent(const struct db *db)
{
	if (!db->until_ns || cpu_ns() <= db->until_ns)
		return false;
	db_interrupt(-ETIME);
	return true;
}

void db_limit_renew(struct db *db)
{
	db->until_ns = cpu_ns() + (uint64_t)(db->share * (double)MOST_NS);
}

void guard_limit(struct db *db, const struct stat *file)
{
	db->share = file->st_size > FILE_BYTES ? (double)file->st_size / FILE_BYTES : 1;
	db->most_bytes = (int64_t)(db->share * (double)MOST_BYTES);
	db_limit_renew(db);
	sqlite3_hard_heap_limit64(db->most_bytes);
	sqlite3_progress_handler(db->handle, EVERY_OPS, look, db);
}

static int refuse(struct db *db, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	int r = sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL), odd = 0;

	if (r == SQLITE_OK && sqlite3_bind_parameter_count(stmt))
		sqlite3_bind_int(stmt, 1, MOST_TABLES);
	if (r == SQLITE_OK)
		r = sqlite3_step(stmt);
	if (r == SQLITE_ROW)
		odd = sqlite3_column_int(stmt, 0);
	sqlite3_finalize(stmt);
	return odd ? -EBADMSG : db_errno(r);
}

int guard_check_read(struct db *db)
{
	return refuse(db, ODD_SQL);
}

int guard_check_write(struct db *db)
{
	int r = guard_check_read(db);

	return r < 0 ? r : refuse(db, LOADED_SQL);
}
