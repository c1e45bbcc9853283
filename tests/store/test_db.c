/* SPDX-License-Identifier: Apache-2.0 */
/* The database as a file that may be anything, and rows that may be written twice. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "older.h"
#include "store/database/db_open.h"
#include "store/run/lines.h"
#include "store/run/gpu.h"
#include "store/database/handle.h"
#include "store/run/query.h"
#include "store/write/write.h"

static char folder[] = "/tmp/dlprof-store-XXXXXX";
static char path[64];

static void set_up(void)
{
	cr_assert(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/run.db", folder);
}

static void tear_down(void)
{
	char command[80];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	cr_assert_eq(system(command), 0);
}

TestSuite(db, .init = set_up, .fini = tear_down);

static void put_file(const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
	close(fd);
}

static int open_read(void)
{
	struct db *db = NULL;
	int r = db_open_read(path, &db);

	if (r == 0)
		db_close(db);
	return r;
}

static void make(void)
{
	struct db *db;

	cr_assert_eq(db_open_write(path, &db), 0);
	db_close(db);
}

static void run_sql(const char *sql)
{
	sqlite3 *handle;

	cr_assert_eq(sqlite3_open(path, &handle), SQLITE_OK);
	cr_assert_eq(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sql);
	sqlite3_close(handle);
}

Test(db, says_what_a_file_is_not)
{
	cr_expect_eq(open_read(), -ENOENT);
	put_file("", 0);
	cr_expect_eq(open_read(), -ENODATA);
	put_file("epoch,batch\n0,1\n", 16);
	cr_expect_eq(open_read(), -EBADMSG);
	unlink(path);
	cr_assert_eq(mkdir(path, 0700), 0);
	cr_expect_eq(open_read(), -EISDIR);
}

Test(db, says_whose_it_is)
{
	run_sql("CREATE TABLE bookmarks (url TEXT)");
	cr_expect_eq(open_read(), -EMEDIUMTYPE);
	unlink(path);
	make();
	cr_expect_eq(open_read(), 0);
	run_sql("PRAGMA user_version = 99");
	cr_expect_eq(open_read(), -EPROTONOSUPPORT);
}

Test(db, does_not_write_into_others_files)
{
	struct db *db;

	run_sql("CREATE TABLE bookmarks (url TEXT)");
	cr_expect_eq(db_open_write(path, &db), -EMEDIUMTYPE);
	unlink(path);
	put_file("epoch,batch\n0,1\n", 16);
	cr_expect_eq(db_open_write(path, &db), -EBADMSG);
}

Test(db, every_truncation_is_an_error_or_readable)
{
	struct stat status;
	struct run_info run;
	struct db *db;
	char *whole;
	int fd, r;

	make();
	run_sql("INSERT INTO t_meta VALUES ('host', 'h')");
	cr_assert_eq(stat(path, &status), 0);
	whole = malloc((size_t)status.st_size);
	fd = open(path, O_RDONLY);
	cr_assert_eq(read(fd, whole, (size_t)status.st_size), status.st_size);
	close(fd);
	for (off_t size = 1; size < status.st_size; size += 997) {
		put_file(whole, (size_t)size);
		r = db_open_read(path, &db);
		if (r < 0)
			continue;
		r = query_run(db, &run);
		if (r == 0)
			run_info_done(&run);
		cr_expect(r == 0 || r == -EBADMSG, "%ld: %d", (long)size, r);
		db_close(db);
	}
	free(whole);
}

Test(db, leaves_one_plain_file)
{
	char side[80];

	make();
	snprintf(side, sizeof(side), "%s-wal", path);
	cr_expect_neq(access(side, F_OK), 0);
	snprintf(side, sizeof(side), "%s-shm", path);
	cr_expect_neq(access(side, F_OK), 0);
}

/* Reads for a while; a program of its own, because SQLite's locks do not survive a fork. Returns
 * once it reads. */
static FILE *start_reader(void)
{
	char command[400];
	FILE *reader;

	snprintf(command, sizeof(command),
		 "python3 -c \"import os, sqlite3, time; c = sqlite3.connect('%s'); "
		 "c.execute('BEGIN'); "
		 "c.execute('SELECT * FROM t_meta').fetchall(); print('x', flush=True); "
		 "time.sleep(0.3); os._exit(0)\"",
		 path);
	reader = popen(command, "r");
	cr_assert_eq(fgetc(reader), 'x');
	return reader;
}

Test(db, leaves_one_plain_file_to_a_reader_too)
{
	char side[80];
	struct db *db;
	FILE *reader;

	cr_assert_eq(db_open_write(path, &db), 0);
	reader = start_reader();
	db_close(db);
	pclose(reader);
	snprintf(side, sizeof(side), "%s-wal", path);
	cr_expect_neq(access(side, F_OK), 0);
}

static int64_t ask(const char *sql)
{
	sqlite3_stmt *statement;
	sqlite3 *handle;
	int64_t answer;

	cr_assert_eq(sqlite3_open(path, &handle), SQLITE_OK);
	cr_assert_eq(sqlite3_prepare_v2(handle, sql, -1, &statement, NULL), SQLITE_OK);
	cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
	answer = sqlite3_column_type(statement, 0) == SQLITE_NULL
			 ? -1 : sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(handle);
	return answer;
}

/* Of one's own: an import that was refused waited two seconds for itself. */
Test(db, waits_for_no_transaction_that_was_given_up)
{
	struct timespec start, end;
	char side[80];
	struct db *db;

	cr_assert_eq(db_open_write(path, &db), 0);
	cr_assert_eq(db_run(db, "BEGIN IMMEDIATE; INSERT INTO t_meta VALUES ('k', 'v')"), 0);
	clock_gettime(CLOCK_MONOTONIC, &start);
	db_close(db);
	clock_gettime(CLOCK_MONOTONIC, &end);
	cr_expect_lt((end.tv_sec - start.tv_sec) * 1000 +
		     (end.tv_nsec - start.tv_nsec) / 1000000, 1500);
	snprintf(side, sizeof(side), "%s-wal", path);
	cr_expect_neq(access(side, F_OK), 0);
	cr_expect_eq(ask("SELECT count(*) FROM t_meta WHERE key = 'k'"), 0);
}

Test(db, a_late_delivery_completes_a_load_and_nothing_else_changes)
{
	const struct loader_row loader = {.pid = 7, .number = 1, .workers = 2, .kind = "k"};
	struct batch_values values;
	struct writer *writer;
	struct db *db;
	int64_t id, again;

	cr_assert_eq(db_open_write(path, &db), 0);
	cr_assert_eq(writer_open(db, &writer), 0);
	cr_assert_eq(writer_loader(writer, &loader, &id), 0);
	cr_assert_eq(writer_loader(writer, &loader, &again), 0);
	cr_expect_eq(id, again);

	batch_values_init(&values);
	values.loader_id = id;
	values.epoch = values.task = 0;
	values.load_ns = 11;
	cr_assert_eq(writer_batch(writer, &values), 0);
	values.load_ns = UNKNOWN;
	values.batch = 0;
	values.wait_ns = 22;
	cr_assert_eq(writer_batch(writer, &values), 0);
	values.wait_ns = 33;	/* a drain that reads its record again knows less, never more */
	cr_assert_eq(writer_batch(writer, &values), 0);
	writer_close(writer);
	db_close(db);

	cr_expect_eq(ask("SELECT count(*) FROM t_batch"), 1);
	cr_expect_eq(ask("SELECT load_ns FROM t_batch"), 11);
	cr_expect_eq(ask("SELECT wait_ns FROM t_batch"), 22);
	cr_expect_eq(ask("SELECT step_ns FROM t_batch"), -1);
}

/* A run whose drain was killed may be finished by a later version. */
Test(db, a_database_of_version_1_can_be_written_on)
{
	struct writer *writer;
	struct db *db;

	make();
	run_sql(WITHOUT_6 "DROP VIEW mark; DROP TABLE t_mark; DROP VIEW gpu_step;"
			  "DROP TABLE t_gpu_step; PRAGMA user_version = 1");
	cr_assert_eq(open_read(), 0);
	cr_assert_eq(db_open_write(path, &db), 0);
	cr_assert_eq(writer_open(db, &writer), 0);
	cr_expect_eq(writer_mark(writer, 1, 2, 3, UNKNOWN, "epoch 0"), 0);
	writer_close(writer);
	db_close(db);
}

/* Its marks have no length, and stay. */
Test(db, a_database_of_version_3_can_be_written_on)
{
	const struct gpu_call_values calls = {1, 0, 2, .sync_ns = 7};
	const struct gpu_part_values parts = {1, 0, 2, .launched_after_ns = 8};
	struct writer *writer;
	struct db *db;

	make();
	run_sql(WITHOUT_6
		"DROP VIEW mark; DROP TABLE t_mark; DROP VIEW gpu_call; DROP TABLE t_gpu_call;"
		"DROP VIEW gpu_part; DROP TABLE t_gpu_part; PRAGMA user_version = 3;"
		"CREATE TABLE t_mark (ts_ns INTEGER NOT NULL, pid INTEGER, tid INTEGER NOT NULL, "
		"text TEXT, PRIMARY KEY (ts_ns, tid)) WITHOUT ROWID;"
		"CREATE VIEW mark AS SELECT 0 AS rank, ts_ns, pid, tid, text FROM t_mark;"
		"INSERT INTO t_mark VALUES (5, 2, 3, 'old');"
		"INSERT INTO t_gap VALUES (1, 2, 'kept', 3)");
	cr_assert_eq(open_read(), 0);
	cr_assert_eq(db_open_write(path, &db), 0);
	cr_assert_eq(writer_open(db, &writer), 0);
	cr_expect_eq(writer_mark(writer, 6, 2, 3, 44, "new"), 0);
	cr_expect_eq(writer_gpu_call(writer, &calls), 0);
	cr_expect_eq(writer_gpu_part(writer, &parts), 0);
	writer_close(writer);
	db_close(db);
	cr_expect_eq(ask("SELECT ns FROM mark WHERE text = 'new'"), 44);
	cr_expect_eq(ask("SELECT ns FROM mark WHERE text = 'old'"), -1);
	cr_expect_eq(ask("SELECT count(*) FROM gap"), 1);
	cr_expect_eq(ask("SELECT sync_ns FROM t_gpu_call WHERE task = 2"), 7);
	cr_expect_eq(ask("SELECT launched_after_ns FROM t_gpu_part WHERE task = 2"), 8);
}

/* Which knew no devices. */
Test(db, a_database_of_version_4_can_be_written_on)
{
	const struct gpu_device_row row = {.loader_id = 1, .device = 2, .fed = 1, .busy_ns = 7};
	struct writer *writer;
	struct db *db;

	make();
	run_sql(WITHOUT_6 "DROP VIEW gpu_device; DROP TABLE t_gpu_device; PRAGMA user_version = 4;"
		"INSERT INTO t_mark VALUES (5, 2, 3, 'kept', 44)");
	cr_assert_eq(open_read(), 0);
	cr_assert_eq(db_open_write(path, &db), 0);
	cr_assert_eq(writer_open(db, &writer), 0);
	cr_expect_eq(writer_gpu_device(writer, &row), 0);
	writer_close(writer);
	db_close(db);
	cr_expect_eq(ask("SELECT busy_ns FROM t_gpu_device WHERE device = 2"), 7);
	cr_expect_eq(ask("SELECT ns FROM mark"), 44);
}

/* Its epochs have no end, and its loaders no place. */
Test(db, a_database_of_version_5_can_be_read_and_written_on)
{
	struct loader_info *loaders;
	size_t count;
	struct db *db;

	make();
	run_sql(WITHOUT_6 "INSERT INTO t_loader (loader_id, pid, number) VALUES (1, 7, 1);"
			  "INSERT INTO t_epoch (loader_id, epoch, setup_ns) VALUES (1, 0, 9);"
			  "PRAGMA user_version = 5");
	cr_assert_eq(db_open_read(path, &db), 0);
	cr_expect_eq(query_loaders(db, &loaders, &count), 0);
	cr_expect_eq(count, 1);
	free(loaders);
	db_close(db);
	cr_assert_eq(db_open_write(path, &db), 0);
	db_close(db);
	cr_expect_eq(ask("SELECT setup_ns FROM epoch"), 9);
	cr_expect_eq(ask("SELECT count(stop_ns) + count(tid) + count(nested) FROM epoch"), 0);
	cr_expect_eq(ask("SELECT count(place) FROM loader"), 0);
}

/* It has cut names of kernels, and tells no GPU loader's from the training's. */
Test(db, a_database_of_version_6_can_be_read_and_written_on)
{
	const struct batch_filter all = {.loader_id = 1, .epoch = -1, .first = -1, .last = -1};
	struct gpu_sums sums;
	struct writer *writer;
	struct db *db;

	make();
	run_sql(WITHOUT_7
		"INSERT INTO t_gpu_step (loader_id, epoch, task, nccl_ns) VALUES (1, 0, 0, 9);"
		"INSERT INTO t_batch (loader_id, epoch, task, batch, step_ns, gpu_busy_ns)"
		" VALUES (1, 0, 0, 0, 100, 90); PRAGMA user_version = 6");
	cr_assert_eq(db_open_read(path, &db), 0);
	cr_expect_eq(gpu_sums_read(db, &all, true, &sums), 0);
	cr_expect_eq(sums.nccl_ns, 9);
	cr_expect(isnan(sums.compute_ns) && isnan(sums.loading_ns));
	db_close(db);
	cr_assert_eq(db_open_write(path, &db), 0);
	cr_assert_eq(writer_open(db, &writer), 0);
	cr_expect_eq(writer_kernel(writer, 5, "_Z1kv", "k()"), 0);
	writer_close(writer);
	db_close(db);
	cr_expect_eq(ask("SELECT count(*) FROM gpu_step WHERE gpu_loading_ns IS NULL"), 1);
	cr_expect_eq(ask("SELECT count(*) FROM t_kernel"), 1);
}

/* It does not know with which status a process ended. */
Test(db, a_database_of_version_7_can_be_read_and_written_on)
{
	const struct process_row row = {.pid = 7, .role = "main", .exit = "gone", .exit_status = 9};
	struct writer *writer;
	struct run_info run;
	struct db *db;

	make();
	run_sql(WITHOUT_8 "INSERT INTO t_meta VALUES ('pid', 7);"
			  "INSERT INTO t_process (pid, start_ticks, role, exit) VALUES"
			  " (7, 0, 'main', 'gone'); PRAGMA user_version = 7");
	cr_assert_eq(db_open_read(path, &db), 0);
	cr_assert_eq(query_run(db, &run), 0);
	cr_expect(run.is_gone && run.exit_status == UNKNOWN && !run.killed_count);
	run_info_done(&run);
	db_close(db);
	cr_assert_eq(db_open_write(path, &db), 0);
	cr_assert_eq(writer_open(db, &writer), 0);
	cr_expect_eq(writer_process(writer, &row), 0);
	writer_close(writer);
	db_close(db);
	cr_expect_eq(ask("SELECT exit_status FROM process"), 9);
}

/* Nobody saw what its batches were made of. */
Test(db, a_database_of_version_9_can_be_read_and_written_on)
{
	struct batch_series series;
	const struct batch_filter all = batch_filter_all(1);
	struct db *db;

	make();
	run_sql(WITHOUT_10
		"INSERT INTO t_loader (loader_id, pid, number, workers) VALUES (1, 7, 1, 2);"
		"INSERT INTO t_batch (loader_id, epoch, task, batch, begin_ns, wait_ns, compute_ns)"
		" VALUES (1, 0, 0, 0, 100, 90, 10); PRAGMA user_version = 9");
	cr_assert_eq(db_open_read(path, &db), 0);
	series_init(&series);
	cr_assert_eq(query_series(db, &all, &series), 0);
	cr_expect_eq(series.count, 1);
	cr_expect_float_eq((double)series.wait_ns[0], 90, 1e-6);
	cr_expect_null(series.sample_ns);
	cr_expect_eq(series.fetches.batches, 0);
	series_done(&series);
	db_close(db);
	cr_assert_eq(db_open_write(path, &db), 0);
	db_close(db);
	cr_expect_eq(ask("SELECT COUNT(*) FROM batch WHERE sample_ns IS NULL AND free_ns IS NULL"
			 " AND fetch_count IS NULL AND wait_ns = 90"), 1);
	cr_expect_eq(ask("SELECT user_version FROM pragma_user_version"), DB_SCHEMA_VERSION);
}

Test(db, of_a_database_of_version_11_no_parts_of_steps_are_known)
{
	struct batch_filter all = batch_filter_all(1);
	struct batch_series series;
	struct db *db;

	make();
	run_sql(WITHOUT_12
		"INSERT INTO t_loader (loader_id, pid, number, workers) VALUES (1, 7, 1, 2);"
		"INSERT INTO t_epoch (loader_id, epoch, stop_ns) VALUES (1, 0, 5);"
		"INSERT INTO t_batch (loader_id, epoch, task, batch, begin_ns, wait_ns, compute_ns,"
		" free_ns) VALUES (1, 0, 0, 0, 100, 90, 10, 7); PRAGMA user_version = 11");
	cr_assert_eq(db_open_read(path, &db), 0);
	series_init(&series);
	cr_assert_eq(query_series(db, &all, &series), 0);
	cr_expect_eq(series.count, 1);
	cr_expect_eq(series.epoch_count, 1);
	cr_expect_float_eq((double)series.wait_ns[0], 97, 1e-6);
	series_done(&series);
	db_close(db);
	cr_assert_eq(db_open_write(path, &db), 0);
	db_close(db);
	cr_expect_eq(ask("SELECT COUNT(*) FROM batch JOIN epoch USING (epoch) WHERE wait_ns = 90"
			 " AND COALESCE(before_ns, backward_ns, between_ns, optimizer_ns,"
			 " batch.save_ns, epoch.save_ns) IS NULL AND stop_ns = 5"), 1);
}

/* in_order is tried of a loader that is not known to lack it. */
Test(db, of_a_database_of_version_14_no_lack_of_a_setting_is_known)
{
	static const int64_t truth[] = {UNKNOWN, 1};

	make();
	run_sql(WITHOUT_15 "INSERT INTO t_loader (loader_id, pid, number) VALUES (1, 7, 1);"
			   "PRAGMA user_version = 14");
	for (size_t i = 0; i < 2; i++) {
		struct loader_info *loaders = NULL;
		size_t count = 0;
		struct db *db;

		cr_assert_eq(db_open_read(path, &db), 0);
		cr_assert_eq(query_loaders(db, &loaders, &count), 0);
		cr_assert_eq(count, 1);
		cr_expect_eq(loaders[0].lacks_order, truth[i]);
		free(loaders);
		db_close(db);
		cr_assert_eq(db_open_write(path, &db), 0);
		db_close(db);
		run_sql("UPDATE t_loader SET lacks_order = 1");
	}
}

Test(db, of_a_database_of_version_13_no_epochs_sampling_is_known)
{
	struct batch_filter all = batch_filter_all(1);
	struct batch_series series;
	struct db *db;

	make();
	run_sql(WITHOUT_14
		"INSERT INTO t_loader (loader_id, pid, number, workers) VALUES (1, 7, 1, 2);"
		"INSERT INTO t_epoch (loader_id, epoch, setup_ns) VALUES (1, 0, 5);"
		"INSERT INTO t_batch (loader_id, epoch, task, batch, begin_ns, wait_ns, compute_ns)"
		" VALUES (1, 0, 0, 0, 100, 90, 10); PRAGMA user_version = 13");
	cr_assert_eq(db_open_read(path, &db), 0);
	series_init(&series);
	cr_assert_eq(query_series(db, &all, &series), 0);
	cr_assert_eq(series.epoch_count, 1);
	cr_expect_float_eq((double)series.epochs[0].setup_ns, 5, 1e-6);
	cr_expect(!(series.epochs[0].sample_ns >= 0));
	series_done(&series);
	db_close(db);
	cr_assert_eq(db_open_write(path, &db), 0);
	db_close(db);
	cr_expect_eq(ask("SELECT COUNT(*) FROM epoch WHERE sample_ns IS NULL AND setup_ns = 5"), 1);
	run_sql("UPDATE t_epoch SET sample_ns = 4");
	cr_assert_eq(db_open_read(path, &db), 0);
	series_init(&series);
	cr_assert_eq(query_series(db, &all, &series), 0);
	cr_expect_float_eq((double)series.epochs[0].sample_ns, 4, 1e-6);
	series_done(&series);
	db_close(db);
}

/* It has no lines of code; they are added up from its next drain on. */
Test(db, a_database_of_version_8_can_be_read_and_written_on)
{
	struct samples_row row = {1, 2, 300000000, "worker", "load", NULL};
	struct line_samples samples;
	struct writer *writer;
	char frames[48];
	int64_t ids[3];
	struct db *db;

	make();
	run_sql(WITHOUT_9 "PRAGMA user_version = 8");
	cr_assert_eq(db_open_read(path, &db), 0);
	cr_assert_eq(lines_read(db, &samples), 0);
	cr_expect_eq(samples.stack_count, 0);
	lines_free(&samples);
	db_close(db);
	cr_assert_eq(db_open_write(path, &db), 0);
	cr_assert_eq(writer_open(db, &writer), 0);
	cr_assert_eq(writer_frame(writer, "/usr/lib/python3.11/a.py", "choose", 7, &ids[0]), 0);
	cr_assert_eq(writer_frame(writer, "/home/me/train.py", "load", 12, &ids[1]), 0);
	cr_assert_eq(writer_frame(writer, "/usr/lib/python3.11/a.py", "choose", 7, &ids[2]), 0);
	cr_expect_eq(ids[0], ids[2]);
	snprintf(frames, sizeof(frames), "%d 99 %d", (int)ids[0], (int)ids[1]);
	row.frames = frames;
	cr_assert_eq(writer_samples(writer, &row), 0);
	cr_assert_eq(writer_samples(writer, &row), 0);
	row.role = "nobody we know";
	cr_assert_eq(writer_samples(writer, &row), 0);
	writer_close(writer);
	db_close(db);
	cr_assert_eq(db_open_read(path, &db), 0);
	cr_assert_eq(lines_read(db, &samples), 0);
	cr_assert_eq(samples.stack_count, 1);
	cr_expect(samples.stacks[0].count == 4 && samples.stacks[0].ns == 600000000);
	cr_assert_eq(samples.stacks[0].depth, 2);
	cr_expect(!samples.frames[samples.stacks[0].frames[0]].is_own);
	cr_expect(samples.frames[samples.stacks[0].frames[1]].is_own);
	cr_expect_str_eq(samples.frames[samples.stacks[0].frames[1]].function, "load");
	lines_free(&samples);
	db_close(db);
}

Test(db, starved_is_null_until_the_run_is_judged)
{
	make();
	run_sql("INSERT INTO t_loader (loader_id, pid, number, workers) VALUES (1, 7, 1, 2);"
		"INSERT INTO t_batch (loader_id, epoch, task, batch, wait_ns, step_ns, head_ready) "
		"VALUES (1, 0, 0, 0, 9, 9, 0), (1, 0, 1, 1, 9, 9, 0), (1, 0, 2, 2, 9, 9, 0), "
		"(1, 0, 3, 3, 9, 9, 1), (1, 0, 4, 4, 1, 9, 0), (1, 0, 5, 5, 9, NULL, 0)");
	cr_expect_eq(ask("SELECT count(starved) FROM batch"), 0);
	cr_expect_eq(ask("SELECT count(*) FROM batch WHERE excluded = 'epoch_start'"), 2);
	cr_expect_eq(ask("SELECT batch FROM batch WHERE excluded = 'no_step'"), 5);
	run_sql("UPDATE t_loader SET theta_ns = 5");
	cr_expect_eq(ask("SELECT starved FROM batch WHERE batch = 0"), -1);
	cr_expect_eq(ask("SELECT starved FROM batch WHERE batch = 2"), 1);
	cr_expect_eq(ask("SELECT starved FROM batch WHERE batch = 3"), 0);
	cr_expect_eq(ask("SELECT starved FROM batch WHERE batch = 4"), 0);
}

/* What comes of the GPU once its neighbours are forgotten takes back the steps that it touches. */
Test(db, what_was_said_of_the_gpu_can_be_taken_back)
{
	const struct loader_row loader = {.pid = 7, .number = 1, .workers = 2, .kind = "k"};
	struct batch_values batch;
	struct gpu_values values;
	struct writer *writer;
	struct db *db;
	bool any;

	cr_assert_eq(db_open_write(path, &db), 0);
	cr_assert_eq(writer_open(db, &writer), 0);
	cr_assert_eq(writer_loader(writer, &loader, &batch.loader_id), 0);
	for (int i = 0; i < 5; i++) {
		int64_t id = batch.loader_id;

		batch_values_init(&batch);
		batch.loader_id = id;
		batch.epoch = 0;
		batch.task = batch.batch = i;
		batch.begin_ns = 100 * i;
		batch.step_ns = 100;
		cr_assert_eq(writer_batch(writer, &batch), 0);
		gpu_values_init(&values);
		values.loader_id = id;
		values.epoch = 0;
		values.task = i;
		values.gpu_busy_ns = 50;
		cr_assert_eq(writer_gpu_step(writer, &values), 0);
	}
	cr_expect_eq(writer_no_gpu(writer, 8, 0, 500, &any), 0);
	cr_expect_not(any, "another process's");
	cr_expect_eq(writer_no_gpu(writer, 7, 200, 301, &any), 0);
	cr_expect(any);
	writer_close(writer);
	db_close(db);
	cr_expect_eq(ask("SELECT COUNT(*) FROM t_batch WHERE gpu_busy_ns NOT NULL"), 3);
	cr_expect_eq(ask("SELECT COUNT(*) FROM t_gpu_step"), 3);
	cr_expect_eq(ask("SELECT COUNT(*) FROM gpu_step WHERE batch IN (2, 3)"), 0);
}
