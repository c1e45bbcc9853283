/* SPDX-License-Identifier: Apache-2.0 */
/* What loads wait for and make, and what their processes use, out of a database. */
#include <criterion/criterion.h>
#include <math.h>
#include <sqlite3.h>

#include "older.h"
#include "one_run.h"
#include "store/run/batch.h"
#include "store/run/facts.h"
#include "store/write/write.h"

static const struct batch_filter filter = {.loader_id = 1, .epoch = -1, .first = -1, .last = -1};

static int read_facts(struct load_facts *ret)
{
	struct load_totals loads;
	struct run_info run;
	int r = query_run(db, &run);

	if (r == 0)
		r = batch_totals_of_run(db, &loads);
	if (r == 0)
		r = load_facts_read(db, &run, &loads, &filter, ret);
	run_info_done(&run);
	return r;
}

TestSuite(facts, .init = one_run_begin, .fini = one_run_end);

/* Four loads of 100 ns in two workers. */
static const char RUN_SQL[] =
	"INSERT INTO t_meta VALUES ('schema', '10'), ('pid', '7'), ('workers_ran_ns', '300'),"
	" ('workers_waited_ns', '100'), ('main_ran_ns', '1'), ('main_waited_ns', '9');"
	"INSERT INTO t_loader (loader_id, pid, number, workers) VALUES (1, 7, 1, 2);"
	"INSERT INTO t_epoch (loader_id, epoch, tid) VALUES (1, 0, 9);"
	"INSERT INTO t_process (pid, start_ticks, role, worker_id) VALUES (7, 1, 'main', NULL),"
	" (8, 2, 'worker', 0), (18, 2, 'worker', 0), (19, 3, 'worker', 1);"
	"INSERT INTO t_batch (loader_id, epoch, task, batch, load_ns, cpu_ns, blocked_ns,"
	" read_bytes, storage_bytes, open_count, samples) VALUES"
	" (1, 0, 0, 0, 100, 30, 60, 80, 0, 2, 4),"
	" (1, 0, 1, 1, 100, 30, 60, 80, 0, 2, 4), (1, 0, 2, 2, 100, 30, 60, 80, 0, 2, 4),"
	" (1, 0, 3, 3, 100, 30, 60, 80, 0, 2, 4);"
	"INSERT INTO t_made VALUES (1, 0, 0, 2, 10, 5), (1, 0, 1, 4, 30, 7);";

Test(facts, of_a_run)
{
	struct load_facts facts;

	run_sql(RUN_SQL);
	run_sql("INSERT INTO t_total VALUES"
		" ('wait', '10.0.0.7:443', 'socket', 0, 5, 150, 4000, 0, 50, 0),"
		" ('wait', '', 'asleep', 0, 1, 60, 0, 0, 60, 0),"
		" ('wait', 'pipe', 'pipe', 0, 2, 20, 7, 0, 10, 0),"
		" ('wait', '', 'program', 0, 2, 4, 0, 0, 3, 0),"
		" ('wait', '', 'sync', 0, 1, 2, 0, 0, 2, 0),"
		" ('wait', 'x', 'nobody knows', 0, 1, 3, 0, 0, 3, 0),"
		" ('decode', 'zlib', 'deflate', 0, 1, 5, 100, 640, 5, 0),"
		" ('decode', 'libjpeg', 'JPEG', 256, 1, 5, 100, 99999, 5, 0);"
		"INSERT INTO t_meta VALUES ('helper_wanted_ns', '30'), ('main_cpu_of_ns', '60'),"
		" ('children_cpu_ns', '8'), ('children_cpu_of_ns', '20'), ('world_size', '2');"
		"INSERT INTO t_use VALUES (7, 1, 9000, 64, 1, 2, 3, 4),"
		" (8, 2, 3000, 2, 100, 500, 3, 70), (18, 2, 1000, 1, 100, NULL, 4, 50),"
		" (19, 3, 2000, 2, 300, 900, NULL, 20);"
		"INSERT INTO t_thread VALUES (7, 9, 'python3', 500), (7, 11, 'feature-calc', 800),"
		" (7, 12, 'idle', 0), (7, 13, 'pin', 20), (8, 8, 'python3', 99);");
	cr_assert_eq(read_facts(&facts), 0);
	cr_expect_eq(facts.load_ns, 400);
	cr_expect_eq(facts.wait_ns[LOAD_WAIT_SOCKET], 150);
	cr_expect_eq(facts.wait_ns[LOAD_WAIT_ASLEEP], 60);
	cr_expect_eq(facts.wait_ns[LOAD_WAIT_PIPE], 20);
	cr_expect_eq(facts.wait_ns[LOAD_WAIT_PROGRAM], 4);
	cr_expect_eq(facts.wait_ns[LOAD_WAIT_SYNC], 2);
	cr_expect_eq(facts.wait_ns[LOAD_WAIT_OTHER], 3);
	cr_expect_eq(facts.helper_cores, 0.5);
	cr_expect_eq(facts.children_cores, 0.4);
	cr_expect_eq(facts.ranks, 2);
	cr_expect_eq(facts.wait_ns[LOAD_WAIT_LOCK], 0);
	cr_expect_eq(facts.no_core_ns, 40, "a third of their CPU time, as of the workers");
	cr_assert_eq(facts.peer_count, 3);
	cr_expect_str_eq(facts.peers[0].name, "10.0.0.7:443");
	cr_expect(facts.peers[0].kind == LOAD_WAIT_SOCKET && facts.peers[0].bytes == 4000 &&
		  facts.peers[0].count == 5);
	cr_expect_eq(facts.tensors, 3);
	cr_expect_eq(facts.batch_bytes, 20);
	cr_expect_eq(facts.objects, 6);
	cr_expect_eq(facts.read_per_byte, 4);
	cr_expect_eq(facts.inflated_per_byte, 8);
	cr_expect_eq(facts.received_per_byte, 50);
	cr_expect_eq(facts.opens_per_sample, 0.5);
	cr_expect_eq(facts.runnable_threads, 2);
	cr_expect_eq(facts.cores_allowed, 1);
	cr_expect_eq(facts.private_begin_bytes, 200, "of those of which the end is known");
	cr_expect_eq(facts.private_end_bytes, 700);
	cr_expect_eq(facts.major_faults, 7);
	cr_expect_eq(facts.swapped_bytes, 90, "the workers of a later epoch are no more workers");
	cr_assert_eq(facts.thread_count, 2);
	cr_expect_str_eq(facts.threads[0].name, "feature-calc");
	cr_expect_eq(facts.threads[0].cpu_ns, 800);
	cr_expect_eq(facts.main_cpu_ns, 500);
}

/* Of 400 ns, workers waited 40 for a core. */
Test(facts, of_mapped_files)
{
	struct load_facts facts;

	run_sql(RUN_SQL);
	run_sql("INSERT INTO t_total VALUES ('wait', '/data/a', 'fault', 0, 9, 150, 0, 0, 50, 0)");
	cr_assert_eq(read_facts(&facts), 0);
	cr_expect_eq(facts.wait_ns[LOAD_WAIT_FAULT], 110);
	cr_expect_eq(facts.faults, 9);
	cr_expect_str_eq(facts.mapped, "/data/a");
	cr_expect_eq(facts.peer_count, 0);
	run_sql("INSERT INTO t_total VALUES"
		" ('wait', '/data/b', 'fault', 0, 1, 2000000000, 0, 0, 9, 0)");
	cr_assert_eq(read_facts(&facts), 0);
	cr_expect_eq(facts.wait_ns[LOAD_WAIT_FAULT], 1e9, "no page takes longer than 100 ms");
	cr_expect_str_eq(facts.mapped, "", "of several files none is named");
}

static void expect_nothing(const struct load_facts *facts)
{
	cr_expect(isnan(facts->wait_ns[LOAD_WAIT_ASLEEP]) && isnan(facts->tensors));
	cr_expect(isnan(facts->batch_bytes) && isnan(facts->read_per_byte));
	cr_expect(isnan(facts->inflated_per_byte) && isnan(facts->runnable_threads));
	cr_expect(isnan(facts->cores_allowed) && isnan(facts->private_begin_bytes));
	cr_expect(isnan(facts->major_faults) && isnan(facts->swapped_bytes));
	cr_expect(isnan(facts->helper_cores) && isnan(facts->children_cores));
	cr_expect(isnan(facts->main_cpu_ns) && !facts->thread_count && !facts->peer_count);
}

/* Loads that raised an exception also waited, but made no batch whose time would be a load's. */
Test(facts, leave_out_waits_of_loads_that_raised)
{
	struct load_facts facts;

	run_sql(RUN_SQL);
	run_sql("INSERT INTO t_total VALUES ('wait', '', 'asleep', 0, 6, 300, 0, 0, 50, 0),"
		" ('wait', '10.0.0.7:443', 'socket', 0, 5, 180, 4000, 0, 50, 0)");
	cr_assert_eq(read_facts(&facts), 0);
	cr_expect_float_eq(facts.wait_ns[LOAD_WAIT_ASLEEP], 150, 1e-6);
	cr_expect_float_eq(facts.wait_ns[LOAD_WAIT_SOCKET], 90, 1e-6);
	cr_expect_float_eq(facts.peers[0].ns, 90, 1e-6);
}

Test(facts, of_an_older_run_are_not_known)
{
	static const char older[] =
		WITHOUT_10 "UPDATE t_meta SET value = '9' WHERE key = 'schema';"
			   "PRAGMA user_version = 9";
	struct load_facts facts;
	sqlite3 *other;

	run_sql(RUN_SQL);
	db_close(db);
	/* Who made the file does not know its views. */
	cr_assert_eq(sqlite3_open(one_run_path, &other), SQLITE_OK);
	cr_assert_eq(sqlite3_exec(other, older, NULL, NULL, NULL), SQLITE_OK, "%s",
		     sqlite3_errmsg(other));
	sqlite3_close(other);
	cr_assert_eq(db_open_read(one_run_path, &db), 0);
	cr_assert_eq(read_facts(&facts), 0);
	expect_nothing(&facts);
	cr_expect_eq(facts.load_ns, 400);
	db_close(db);
	/* Upgraded, as by a drain that goes on with it. */
	cr_assert_eq(db_open_write(one_run_path, &db), 0);
	run_sql("INSERT INTO t_use VALUES (8, 2, 3000, 2, 100, 500, 3, 70)");
	cr_assert_eq(read_facts(&facts), 0);
	cr_expect(isnan(facts.wait_ns[LOAD_WAIT_ASLEEP]) && facts.runnable_threads == 3);
}

Test(facts, of_an_empty_run)
{
	struct load_facts facts;

	cr_assert_eq(read_facts(&facts), 0);
	expect_nothing(&facts);
	cr_expect(isnan(facts.load_ns) && isnan(facts.no_core_ns));
}

/* What a file holds is not believed. */
Test(facts, of_a_run_that_makes_no_sense)
{
	struct load_facts facts;

	run_sql(RUN_SQL);
	run_sql("UPDATE t_made SET tensor_count = -5, batch_bytes = 'x';"
		"INSERT INTO t_use VALUES (8, 2, -1, -2, 'x', -4, 9e300, -6);"
		"INSERT INTO t_thread VALUES (7, 11, x'00ff', 9223372036854775807);"
		"INSERT INTO t_total VALUES ('wait', 'a', 'lock', 0, -1, -1, -1, -1, -1, 0)");
	cr_assert_eq(read_facts(&facts), 0);
	cr_expect(isnan(facts.tensors) && !(facts.batch_bytes > 0) && isnan(facts.read_per_byte));
	cr_expect(isnan(facts.runnable_threads) && isnan(facts.cores_allowed));
	cr_expect(isnan(facts.private_end_bytes) && !(facts.swapped_bytes < 0));
	cr_expect_eq(facts.wait_ns[LOAD_WAIT_LOCK], 0);
}

/* Files of which most is read: three of 1000 bytes, opened 4 to 6 times, and a vocabulary. */
Test(facts, of_the_files_that_are_read)
{
	struct load_facts facts;

	run_sql(RUN_SQL);
	run_sql("INSERT INTO t_total VALUES ('file', '/a', '', 0, 4, 5, 1000, 0, 5, 0),"
		" ('file', '/b', '', 0, 6, 5, 1000, 0, 5, 0),"
		" ('file', '/c', '', 0, 5, 5, 1000, 0, 5, 0),"
		" ('file', '/vocabulary', '', 0, 32, 5, 70, 0, 5, 0)");
	cr_assert_eq(read_facts(&facts), 0);
	cr_expect_eq(facts.files.count, 3, "the vocabulary is small");
	cr_expect_eq(facts.files.fewest_opens, 4);
	cr_expect_eq(facts.files.most_opens, 6);
	cr_expect_eq(facts.files.bytes, 200);
	cr_expect_eq(facts.reopens_per_sample, 2, "of the vocabulary, by each of 16 samples");
	cr_expect_eq(facts.reopened_per_sample, 2);
	run_sql("UPDATE t_total SET count = 8 WHERE name = '/a'");
	cr_assert_eq(read_facts(&facts), 0);
	cr_expect_eq(facts.reopened_per_sample, 2.5, "and of what each second sample opens");
	run_sql("UPDATE t_total SET count = 4 WHERE name = '/a'");
	run_sql("UPDATE t_total SET bytes = 80 WHERE name = '/vocabulary'");
	cr_assert_eq(read_facts(&facts), 0);
	cr_expect_eq(facts.files.count, 4, "a tenth of what is usual is not small");
	cr_expect_eq(facts.files.most_opens, 32);
	/* Batches of several loaders may be of other files. */
	run_sql("INSERT INTO t_made VALUES (2, 0, 0, 2, 10, 5)");
	cr_assert_eq(read_facts(&facts), 0);
	cr_expect_eq(facts.files.count, 0);
	cr_expect(isnan(facts.reopens_per_sample) && isnan(facts.reopened_per_sample));
}
