/* SPDX-License-Identifier: Apache-2.0 */
/* A pack says what the rows of its batches say, or nothing. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "one_run.h"
#include "store/run/batch.h"
#include "store/run/gpu.h"
#include "store/run/pack.h"
#include "store/run/query.h"
#include "store/write/pack_write.h"

#define COUNT 70000 /* more than fit into one part */

static const struct batch_filter filter = {.loader_id = 1, .epoch = -1, .first = -1, .last = -1};

/* Makes a loader of `count` batches in two epochs, and one of two batches. */
static void fill(int count)
{
	char sql[1200];

	run_sql("INSERT INTO t_meta VALUES ('schema', '16');"
		"INSERT INTO t_loader (loader_id, pid, number, workers) VALUES (1, 7, 1, 2),"
		" (2, 7, 2, 0);"
		"INSERT INTO t_epoch (loader_id, epoch, begin_ns, setup_ns) VALUES (1, 0, 5, 1),"
		" (1, 1, 6000000, 1), (2, 0, 5, 1);"
		"INSERT INTO t_batch (loader_id, epoch, task, batch, wait_ns, compute_ns, load_ns)"
		" VALUES (2, 0, 0, 0, 10, 10, 7), (2, 0, 1, 1, 10, 10, 8)");
	snprintf(sql, sizeof(sql),
		"WITH RECURSIVE i(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM i WHERE n < %d)"
		"INSERT INTO t_batch (loader_id, epoch, task, batch, begin_ns, wait_ns, step_ns,"
		" compute_ns, load_begin_ns, load_ns, cpu_ns, samples, decode_ns, worker_id,"
		" head_ready, qdepth, receive_ns, fetch_count, fetch_ns, fetch_cpu_ns, gpu_busy_ns)"
		" SELECT 1, n / %d, n %% %d, n %% %d, n * 100, 30 + n %% 7, 100, 60,"
		"  n * 100 + 5, 20 + n %% 11, 9, 4, IIF(n %% 5, 3, NULL), n %% 2, n %% 3 = 0,"
		"  n %% 4, 2, IIF(n %% 2, 6, NULL), 8, 1, IIF(n < 66000, NULL, 50) FROM i",
		count - 1, count * 4 / 7, count * 4 / 7, count * 4 / 7);
	run_sql(sql);
}

TestSuite(pack_read, .init = one_run_begin, .fini = one_run_end);

static void pack(void)
{
	struct writer *writer;

	cr_assert_eq(writer_open(db, &writer), 0);
	cr_assert_eq(pack_write(db, writer), 0);
	writer_close(writer);
}

static int64_t ask(const char *sql)
{
	sqlite3_stmt *stmt;
	int64_t value;

	cr_assert_eq(sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL), SQLITE_OK, "%s", sql);
	cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW);
	value = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return value;
}

static void expect_same(const struct batch_series *a, const struct batch_series *b)
{
	struct series_place at = SERIES_BEGIN, other = SERIES_BEGIN;

	cr_assert_eq(a->count, COUNT);
	cr_assert_eq(b->count, COUNT);
	cr_assert_eq(a->run_count, b->run_count);
	cr_expect_eq(a->epoch_count, b->epoch_count);
	while (series_next(a, &at) && series_next(b, &other)) {
		cr_assert(at.epoch == other.epoch && at.batch == other.batch, "%zu", at.i);
		cr_assert_eq(a->worker[at.i], b->worker[at.i]);
		cr_assert_eq(a->state[at.i], b->state[at.i]);
		for (size_t k = 0; k < SERIES_TIMES; k++)
			cr_assert(series_has(a->times[k], at.i) == series_has(b->times[k], at.i) &&
				  series_time(a->times[k], at.i) == series_time(b->times[k], at.i),
				  "%zu of %zu", k, at.i);
	}
	cr_expect_eq(a->load_cpu_ns, b->load_cpu_ns);
	cr_expect_eq(a->load_cpu_count, b->load_cpu_count);
	cr_expect_eq(a->first_ns, b->first_ns);
	cr_expect_eq(a->last_ns, b->last_ns);
	cr_expect_eq(a->tail_begin_ns, b->tail_begin_ns);
	cr_expect_eq(a->elsewhere_ns, b->elsewhere_ns);
	cr_expect_eq(memcmp(&a->fetches, &b->fetches, sizeof(a->fetches)), 0);
}

Test(pack_read, is_the_same_as_the_rows)
{
	struct load_totals totals, packed_totals;
	struct batch_series rows, packed;
	struct gpu_sums sums, packed_sums;
	struct loader_info *loaders;
	struct pack_head head;
	size_t count;

	fill(COUNT);
	series_init(&rows);
	series_init(&packed);
	cr_assert_eq(query_series(db, &filter, &rows), 0);
	cr_assert_eq(batch_totals(db, &filter, &totals), 0);
	cr_assert_eq(gpu_sums_read(db, &filter, true, &sums), 0);
	cr_expect_eq(pack_read_head(db, 1, &head), -ENOENT, "nothing is packed yet");
	cr_expect_eq(pack_sum_totals(db, &packed_totals), -ENOENT);
	pack();
	cr_expect_eq(ask("SELECT COUNT(*) FROM t_pack WHERE loader_id = 1"), 3);
	cr_expect_eq(ask("SELECT COUNT(*) FROM t_pack WHERE loader_id = 2"), 2, "short ones, too");
	cr_assert_eq(pack_read_series(db, 1, &packed), 0);
	series_done(&packed);
	cr_assert_eq(query_series(db, &filter, &packed), 0);
	expect_same(&rows, &packed);
	cr_expect_eq(packed.receive_ns, COUNT * 2.);
	cr_assert_eq(pack_read_head(db, 1, &head), 0);
	cr_expect(head.batch_count == COUNT && head.epoch_count == 2);
	cr_assert_eq(batch_totals(db, &filter, &packed_totals), 0);
	cr_expect_eq(memcmp(&totals, &packed_totals, sizeof(totals)), 0);
	cr_expect_eq(packed_totals.load_count, COUNT);
	cr_expect_eq(packed_totals.decode_ns, COUNT / 5 * 4 * 3);
	cr_assert_eq(gpu_sums_read(db, &filter, true, &packed_sums), 0);
	cr_expect_eq(memcmp(&sums, &packed_sums, sizeof(sums)), 0);
	cr_expect_eq(packed_sums.busy_ns, 4000 * 50);
	cr_assert_eq(query_loaders(db, &loaders, &count), 0);
	cr_assert_eq(count, 2);
	cr_expect(loaders[0].loader_id == 1 && loaders[0].batch_count == COUNT);
	cr_expect_eq(loaders[0].time_ns, ask("SELECT SUM(wait_ns + compute_ns) FROM t_batch"
					     " WHERE loader_id = 1"));
	cr_expect(loaders[1].batch_count == 2 && loaders[1].epoch_count == 1);
	free(loaders);
	/* The sums of all loaders. */
	cr_assert_eq(pack_sum_totals(db, &packed_totals), 0);
	cr_expect_eq(packed_totals.load_ns, totals.load_ns + 15);
	cr_expect_eq(packed_totals.load_count, COUNT + 2);
	cr_expect_eq(packed_totals.read_ns, 0, "in no loader observed");
	series_done(&rows);
	series_done(&packed);
}

Test(pack_read, a_filter_reads_rows)
{
	const struct batch_filter second = {.loader_id = 1, .epoch = 1, .first = -1, .last = -1};
	struct batch_series series;

	fill(7000);
	pack();
	series_init(&series);
	cr_assert_eq(query_series(db, &second, &series), 0);
	cr_expect_eq(series.count, 3000);
	cr_expect(series.is_part);
	series_done(&series);
}

/* Another program changes the database: triggers do not run in our own connections. */
static void change(const char *sql)
{
	sqlite3 *handle;

	db_close(db);
	cr_assert_eq(sqlite3_open(one_run_path, &handle), SQLITE_OK);
	cr_assert_eq(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sql);
	sqlite3_close(handle);
	cr_assert_eq(db_open_write(one_run_path, &db), 0);
}

/* Any change of a batch makes its loader's pack void. */
Test(pack_read, is_gone_when_a_row_changes)
{
	static const char *const changes[] = {
		"UPDATE t_batch SET wait_ns = 5 WHERE loader_id = 1 AND epoch = 0 AND task = 3",
		"DELETE FROM t_batch WHERE loader_id = 1 AND epoch = 0 AND task = 3",
		"INSERT INTO t_batch (loader_id, epoch, task) VALUES (1, 5, 0)",
		"INSERT INTO t_gpu_step (loader_id, epoch, task) VALUES (1, 0, 0)",
		"UPDATE t_gpu_step SET kernel_count = 3",
		"DELETE FROM t_gpu_step",
	};

	fill(7000);
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		pack();
		cr_expect_gt(ask("SELECT COUNT(*) FROM t_pack WHERE loader_id = 1"), 0);
		change(changes[i]);
		cr_expect_eq(ask("SELECT COUNT(*) FROM t_pack WHERE loader_id = 1"), 0, "%zu", i);
		cr_expect_gt(ask("SELECT COUNT(*) FROM t_pack WHERE loader_id = 2"), 0, "%zu", i);
	}
}

/* Writes a 32-bit number into a part of loader 1's pack. */
static void damage(int part, size_t at, uint32_t value)
{
	char sql[300];

	snprintf(sql, sizeof(sql),
		 "UPDATE t_pack SET data = CAST(substr(data, 1, %zu) || X'%02x%02x%02x%02x' ||"
		 " substr(data, %zu) AS BLOB) WHERE loader_id = 1 AND part = %d",
		 at, value & 255, value >> 8 & 255, value >> 16 & 255, value >> 24, at + 5, part);
	run_sql(sql);
}

static int read_packed(void)
{
	struct batch_series series;
	int r;

	series_init(&series);
	r = pack_read_series(db, 1, &series);
	cr_expect(r == 0 || series.count == 0);
	series_done(&series);
	return r;
}

/* A pack that is damaged is not read; its rows are. */
Test(pack_read, a_damaged_one_is_not_there)
{
	const size_t runs = sizeof(struct pack_part);
	struct pack_head head;

	fill(7000);
	pack();
	cr_assert_eq(read_packed(), 0);
	run_sql("CREATE TABLE kept AS SELECT * FROM t_pack");
	static const char back[] = "DELETE FROM t_pack; INSERT INTO t_pack SELECT * FROM kept";

	/* of the head: magic, size, number of batches */
	for (size_t i = 0; i < 3; i++) {
		damage(0, 4 * i, 77);
		cr_expect(read_packed() < 0, "%zu", i);
		cr_expect(i == 2 || pack_read_head(db, 1, &head) == -ENOENT, "%zu", i);
		run_sql(back);
	}
	/* of a part: magic, number of batches, columns, number of runs */
	for (size_t i = 0; i < 4; i++) {
		damage(1, 4 * i, i == 2 ? UINT32_MAX : 0);
		cr_expect_eq(read_packed(), -ENOENT, "%zu", i);
		run_sql(back);
	}
	/* of the runs: the first begins at 0, and each begins after the one before */
	damage(1, runs, 1);
	cr_expect_eq(read_packed(), -ENOENT);
	run_sql(back);
	damage(1, runs + sizeof(struct pack_run), 0);
	cr_expect_eq(read_packed(), -ENOENT);
	run_sql(back);
	damage(1, runs + sizeof(struct pack_run), 7000);
	cr_expect_eq(read_packed(), -ENOENT, "it begins behind the end");
	run_sql(back);
	damage(1, runs + sizeof(struct pack_run), 6999);
	cr_expect_eq(read_packed(), 0);
	run_sql("UPDATE t_pack SET data = substr(data, 1, 8) WHERE part = 1");
	cr_expect_eq(read_packed(), -ENOENT);
	run_sql("DELETE FROM t_pack WHERE part = 1");
	cr_expect_eq(read_packed(), -ENOENT);
	run_sql(back);
	cr_expect_eq(read_packed(), 0);
	run_sql("DELETE FROM t_pack WHERE loader_id = 2");
	struct load_totals totals;

	cr_expect_eq(pack_sum_totals(db, &totals), -ENOENT, "a loader is missing");
}

Test(pack_read, short_runs_have_none)
{
	fill(8000);
	run_sql("DELETE FROM t_batch WHERE loader_id = 1 AND (epoch = 1 OR task >= 4095)");
	pack();
	cr_expect_eq(ask("SELECT COUNT(*) FROM sqlite_master WHERE name = 't_pack'"), 0);
	cr_expect_gt(ask("SELECT theta_ns FROM t_loader WHERE loader_id = 1"), 0);
	run_sql("INSERT INTO t_batch (loader_id, epoch, task, batch) VALUES (1, 0, 4095, 4095)");
	pack();
	cr_expect_eq(ask("SELECT COUNT(*) FROM t_pack"), 4);
}
