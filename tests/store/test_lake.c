/* SPDX-License-Identifier: Apache-2.0 */
/* The history of many jobs has each job once, whole, and nothing that nobody observed. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "dlprof/units.h"
#include "one_run.h"
#include "store/fleet/lake.h"

static char path[80];
static struct lake *lake;

static void set_up(void)
{
	one_run_begin();
	snprintf(path, sizeof(path), "%s/jobs.db", one_run_folder);
}

TestSuite(lake, .init = set_up, .fini = one_run_end);

static void put_job(const char *id, int64_t attempt, double ratio, int64_t batches)
{
	struct lake_job job;

	memset(&job, 0, sizeof(job));
	job.job_id = id;
	job.attempt = attempt;
	job.batches = batches;
	job.stall_ratio = ratio;
	cr_assert_eq(lake_open(path, false, &lake), 0);
	cr_assert_eq(lake_begin(lake, id, attempt), 0);
	cr_assert_eq(lake_put_job(lake, &job), 0);
	cr_assert_eq(lake_commit(lake), 0);
	lake_close(lake);
}

/* Returns the only number of a query over the jobs; -1: NULL. */
static double ask(const char *sql)
{
	sqlite3_stmt *stmt;
	sqlite3 *handle;
	double value;

	cr_assert_eq(sqlite3_open(path, &handle), SQLITE_OK);
	cr_assert_eq(sqlite3_prepare_v2(handle, sql, -1, &stmt, NULL), SQLITE_OK, "%s", sql);
	cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW);
	value = sqlite3_column_type(stmt, 0) == SQLITE_NULL ? -1 : sqlite3_column_double(stmt, 0);
	sqlite3_finalize(stmt);
	sqlite3_close(handle);
	return value;
}

Test(lake, a_job_that_is_put_again_is_there_once)
{
	put_job("a", 0, 0.25, 7);
	put_job("a", 1, 0.5, 8);
	put_job("b", 0, 0.75, UNKNOWN);
	cr_expect(lake_is(path));
	put_job("a", 0, NAN, 9);
	cr_expect_eq(ask("SELECT COUNT(*) FROM job"), 3);
	cr_expect_eq(ask("SELECT batches FROM job WHERE job_id = 'a' AND attempt = 0"), 9);
	cr_expect_eq(ask("SELECT stall_ratio FROM job WHERE job_id = 'a' AND attempt = 0"), -1);
	cr_expect_eq(ask("SELECT stall_ratio FROM job WHERE job_id = 'a' AND attempt = 1"), 0.5);
	cr_expect_eq(ask("SELECT batches FROM job WHERE job_id = 'b'"), -1);
	cr_expect_eq(ask("SELECT COUNT(*) FROM job WHERE name IS NULL AND cluster IS NULL"), 3);
}

Test(lake, what_is_not_committed_is_not_there)
{
	put_job("a", 0, 0.25, 7);
	cr_assert_eq(lake_open(path, false, &lake), 0);
	cr_assert_eq(lake_begin(lake, "a", 0), 0);
	cr_assert_eq(lake_cancel(lake), 0);
	cr_assert_eq(lake_begin(lake, "a", 0), 0);
	lake_close(lake);
	cr_expect_eq(ask("SELECT COUNT(*) FROM job"), 1);
}

Test(lake, batches_of_a_run)
{
	run_sql("INSERT INTO t_meta VALUES ('schema', '16'), ('pid', '7'), ('rank', '3');"
		"INSERT INTO t_loader (loader_id, pid, number, workers) VALUES (1, 7, 1, 2);"
		"INSERT INTO t_batch (loader_id, epoch, task, batch, begin_ns, wait_ns, step_ns,"
		" compute_ns) VALUES (1, 0, 0, 0, 5, 10, 100, 90), (1, 0, 1, 1, 105, 20, 100, 80),"
		" (1, 0, 2, NULL, NULL, NULL, NULL, NULL)");
	put_job("a", 2, 0.25, 7);
	cr_assert_eq(lake_open(path, false, &lake), 0);
	cr_assert_eq(lake_begin(lake, "a", 2), 0);
	cr_assert_eq(lake_put_run(lake, db, 5), 0);
	cr_assert_eq(lake_commit(lake), 0);
	lake_close(lake);
	cr_expect_eq(ask("SELECT COUNT(*) FROM batch"), 2, "it was never handed out");
	cr_expect_eq(ask("SELECT SUM(wait_ns) FROM batch WHERE job_id = 'a' AND attempt = 2 AND"
			 " rank_id = 5"), 30);
	cr_expect_eq(ask("SELECT ordinal FROM batch WHERE wait_ns = 20"), 1);
	cr_expect_eq(ask("SELECT COUNT(*) FROM job"), 0, "its job's rows were replaced");
}

Test(lake, other_files_are_not_written_into)
{
	cr_expect_not(lake_is(path));
	cr_expect_not(lake_is(one_run_path), "a run");
	cr_expect_eq(lake_open(one_run_path, false, &lake), -EMEDIUMTYPE);
	lake_close(lake);
	put_job("a", 0, 0.25, 7);
	cr_expect_eq(lake_open(path, true, &lake), -EEXIST);
	lake_close(lake);
	cr_expect_eq(ask("PRAGMA user_version"), LAKE_VERSION);
	cr_assert_eq(ask("DELETE FROM job RETURNING 1"), 1);
	cr_expect_eq(lake_open(path, true, &lake), 0);
	lake_close(lake);
	sqlite3 *handle;

	cr_assert_eq(sqlite3_open(path, &handle), SQLITE_OK);
	sqlite3_exec(handle, "PRAGMA user_version = 2", NULL, NULL, NULL);
	sqlite3_close(handle);
	cr_expect_eq(lake_open(path, false, &lake), -EPROTONOSUPPORT);
	lake_close(lake);
	cr_expect_not(lake_is(path));
}

Test(lake, tables_that_every_engine_reads)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	lake_put_schema(out);
	fclose(out);
	cr_expect_eq(strncmp(text, "CREATE TABLE IF NOT EXISTS job (job_id TEXT NOT NULL,"
				   " attempt BIGINT NOT NULL, name TEXT, ", 80), 0, "%s", text);
	cr_expect(strstr(text, " PRIMARY KEY (job_id, attempt));\n"), "%s", text);
	cr_expect(strstr(text, " PRIMARY KEY (job_id, attempt, rank_id));\n"), "%s", text);
	cr_expect_null(strstr(text, "WITHOUT ROWID"));
	free(text);
	cr_expect_str_eq(lake_table(0), "job");
	size = 0;
	while (lake_table(size))
		size++;
	cr_expect_gt(size, 2);
	cr_expect_str_eq(lake_error(-ENOTDIR), "its folder does not exist; make it first");
}
