/* SPDX-License-Identifier: Apache-2.0 */
/* A database that somebody made to do harm runs nothing, and ends in time. */
#include <criterion/criterion.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "dlprof/units.h"
#include "older.h"
#include "store/database/db_open.h"
#include "store/fleet/export.h"
#include "store/run/query.h"
#include "store/run/tally.h"
#include "store/write/write.h"

static char folder[] = "/tmp/dlprof-guard-XXXXXX";
static char path[64];
static int64_t pace_ns; /* of each look at the time that the process used; 0: as it is */
static int64_t used_ns;

/* In the place of libc's: to use up eight seconds takes a busy machine more than a minute. */
int clock_gettime(clockid_t clock, struct timespec *ret)
{
	if (clock != CLOCK_PROCESS_CPUTIME_ID || !pace_ns)
		return (int)syscall(SYS_clock_gettime, clock, ret);
	used_ns += pace_ns;
	*ret = (struct timespec){used_ns / (int64_t)NS_PER_S, used_ns % (int64_t)NS_PER_S};
	return 0;
}

static void set_up(void)
{
	struct db *db;

	cr_assert(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/run.db", folder);
	cr_assert_eq(db_open_write(path, &db), 0);
	db_close(db);
}

static void tear_down(void)
{
	char command[80];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	cr_assert_eq(system(command), 0);
}

TestSuite(guard, .init = set_up, .fini = tear_down, .timeout = 60);

static void run_sql(const char *sql)
{
	sqlite3 *handle;
	char *problem = NULL;

	cr_assert_eq(sqlite3_open(path, &handle), SQLITE_OK);
	sqlite3_exec(handle, sql, NULL, NULL, &problem);
	cr_assert_null(problem, "%s", problem);
	sqlite3_close(handle);
}

static int64_t ask(const char *sql)
{
	sqlite3_stmt *statement;
	sqlite3 *handle;
	int64_t answer;

	cr_assert_eq(sqlite3_open(path, &handle), SQLITE_OK);
	cr_assert_eq(sqlite3_prepare_v2(handle, sql, -1, &statement, NULL), SQLITE_OK);
	cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
	answer = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(handle);
	return answer;
}

static int open_read(void)
{
	struct db *db = NULL;
	int r = db_open_read(path, &db);

	if (r == 0)
		db_close(db);
	return r;
}

#define ENDLESS                                                                                    \
	" AS WITH RECURSIVE n(key, value) AS (SELECT 'a', 1 UNION ALL SELECT key, value FROM n)"   \
	" SELECT key, value, key AS level, value AS text FROM n;"

Test(guard, a_view_in_the_place_of_a_table_is_not_read)
{
	struct run_info run;
	struct db *db;

	run_sql("DROP VIEW meta; DROP TABLE t_meta; CREATE VIEW t_meta" ENDLESS);
	cr_assert_eq(db_open_read(path, &db), 0);
	cr_expect_eq(query_run(db, &run), -EBADMSG);
	db_close(db);
}

static int count_row(const struct export_cell *cells, size_t count, void *context)
{
	(void)cells;
	(void)count;
	return ++*(int *)context > 100;
}

static int ignore_names(const char *const *names, size_t count, void *context)
{
	(void)names;
	(void)count;
	(void)context;
	return 0;
}

Test(guard, a_files_own_views_are_not_run)
{
	int rows = 0;
	const struct export_sink sink = {ignore_names, count_row, &rows};
	struct tally_list list;
	struct run_info run;
	struct db *db;

	run_sql("DROP VIEW meta; CREATE VIEW meta" ENDLESS
		"DROP VIEW note; CREATE VIEW note" ENDLESS
		"DROP VIEW t_tally; CREATE VIEW t_tally" ENDLESS
		"DROP VIEW t_rank; CREATE VIEW t_rank AS SELECT randomblob(1e9) AS rank;"
		"INSERT INTO t_note VALUES ('info', 'one')");
	cr_assert_eq(db_open_read(path, &db), 0);
	cr_expect_eq(query_run(db, &run), 0);
	run_info_done(&run);
	cr_expect_eq(tally_list_read(db, "file", 5, &list), 0);
	tally_list_done(&list);
	cr_expect_eq(export_view(db, "note", &sink), 0);
	cr_expect_eq(rows, 1);
	db_close(db);
}

Test(guard, what_is_no_plain_table_is_refused)
{
	run_sql("CREATE VIRTUAL TABLE odd USING rtree(a, b, c)");
	cr_expect_eq(open_read(), -EBADMSG);
	run_sql("DROP TABLE odd; DROP TABLE t_note;"
		"CREATE TABLE t_note (level TEXT, text TEXT AS (hex(zeroblob(1000))))");
	cr_expect_eq(open_read(), -EBADMSG);
}

static int read_again(void)
{
	struct run_info run;
	struct db *db;
	int r = db_open_read(path, &db);

	if (r < 0)
		return r;
	r = query_run(db, &run);
	if (r == 0)
		run_info_done(&run);
	db_close(db);
	return r;
}

/* As `top` does, for days. */
Test(guard, reading_again_and_again_goes_on)
{
	pace_ns = (int64_t)NS_PER_S / 100;
	while (used_ns < 20 * (int64_t)NS_PER_S)
		cr_assert_eq(read_again(), 0);
}

Test(guard, all_that_is_read_of_an_open_file_counts)
{
	struct run_info run;
	struct db *db;
	int r = 0;

	pace_ns = (int64_t)NS_PER_S / 100;
	cr_assert_eq(db_open_read(path, &db), 0);
	while (r == 0 && used_ns < 20 * (int64_t)NS_PER_S) {
		r = query_run(db, &run);
		if (r == 0)
			run_info_done(&run);
	}
	db_close(db);
	cr_expect_eq(r, -ETIME);
	cr_expect_lt(used_ns, 10 * (int64_t)NS_PER_S);
}

Test(guard, a_trigger_does_not_run_when_the_drain_writes)
{
	struct writer *writer;
	struct db *db;

	run_sql("CREATE TABLE victim (a); INSERT INTO victim VALUES (1);"
		"CREATE TRIGGER t AFTER INSERT ON t_note BEGIN DELETE FROM victim; END;");
	cr_assert_eq(db_open_write(path, &db), 0);
	cr_assert_eq(writer_open(db, &writer), 0);
	cr_expect_eq(writer_note(writer, "info", "text"), 0);
	writer_close(writer);
	db_close(db);
	cr_expect_eq(ask("SELECT COUNT(*) FROM t_note"), 1);
	cr_expect_eq(ask("SELECT COUNT(*) FROM victim"), 1);
}

Test(guard, no_trigger_runs_in_an_upgrade)
{
	struct db *db;

	run_sql(WITHOUT_6
		"CREATE TABLE victim (a); INSERT INTO victim VALUES (1);"
		"DROP VIEW mark; DROP TABLE t_mark; PRAGMA user_version = 3;"
		"CREATE TABLE t_mark (ts_ns INTEGER NOT NULL, pid INTEGER, tid INTEGER NOT NULL, "
		"text TEXT, PRIMARY KEY (ts_ns, tid)) WITHOUT ROWID;"
		"CREATE VIEW mark AS SELECT 0 AS rank, ts_ns, pid, tid, text FROM t_mark;"
		"CREATE TRIGGER t INSTEAD OF DELETE ON mark BEGIN DELETE FROM victim; END;"
		"CREATE TRIGGER u AFTER DELETE ON t_mark BEGIN DELETE FROM victim; END;");
	cr_assert_eq(db_open_write(path, &db), 0);
	db_close(db);
	cr_expect_eq(ask("SELECT COUNT(*) FROM victim"), 1);
}

Test(guard, what_runs_on_writing_is_not_written_into)
{
	struct db *db;

	run_sql("DROP TABLE t_note; CREATE TABLE t_note (level TEXT,"
		" text TEXT CHECK (length(hex(zeroblob(100000))) > 0), UNIQUE (level, text))");
	cr_expect_eq(db_open_write(path, &db), -EBADMSG);
	run_sql("DROP TABLE t_note; CREATE TABLE t_note (level TEXT, text TEXT);"
		"CREATE INDEX i ON t_note (instr(text, text))");
	cr_expect_eq(db_open_write(path, &db), -EBADMSG);
}

Test(guard, another_users_file_is_not_written_into)
{
	struct db *db;

	if (geteuid() != 0)
		cr_skip_test("only root can give a file away");
	cr_assert_eq(chown(path, 65534, 65534), 0);
	cr_expect_eq(db_open_write(path, &db), -EPERM);
	cr_expect_eq(open_read(), 0);
}

Test(guard, a_pipe_in_its_place_does_not_keep_us_waiting)
{
	unlink(path);
	cr_assert_eq(mkfifo(path, 0600), 0);
	cr_expect_eq(open_read(), -EUCLEAN);
	cr_expect_str_eq(db_error(-EUCLEAN), "it is a pipe, not a file");
}

static void check_mode(const char *end)
{
	struct stat status;
	char name[80];

	snprintf(name, sizeof(name), "%s%s", path, end);
	cr_assert_eq(stat(name, &status), 0, "%s", name);
	cr_expect_eq(status.st_mode & 07777, 0600, "%s is %o", name, status.st_mode);
}

Test(guard, a_database_is_its_owners_alone)
{
	struct db *db;

	unlink(path);
	umask(0);
	cr_assert_eq(db_open_write(path, &db), 0);
	check_mode("");
	check_mode("-wal");
	check_mode("-shm");
	db_close(db);
	check_mode("");
}
