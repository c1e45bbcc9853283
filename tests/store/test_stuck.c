/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes are taken for stuck: those that have been at one place for long, and nobody else.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "one_run.h"
#include "report/run/stuck.h"

#define S 1000000000.0

static struct line_samples samples;
static struct doing *stuck;
static size_t count;

static void set_up(void)
{
	one_run_begin();
	run_sql("INSERT INTO t_frame VALUES (1, '/usr/lib/python3.11/ssl.py', 'recv', 9),"
		" (2, '/me/data.py', 'fetch', 88),"
		" (3, '/usr/lib/python3.11/multiprocessing/queues.py', 'Queue.get', 103),"
		" (4, '/v/site-packages/torch/worker.py', '_worker_loop', 7)");
}

TestSuite(stuck, .init = set_up, .fini = one_run_end);

/* Where a worker is: `from` and `to` in seconds. */
static void add(int pid, const char *role, double from, double to, const char *frames)
{
	char sql[256];

	snprintf(sql, sizeof(sql),
		 "INSERT INTO t_doing (pid, role, worker_id, since_ns, seen_ns, frames)"
		 " VALUES (%d, '%s', %s, %.0f, %.0f, '%s')",
		 pid, role, strcmp(role, "main") == 0 ? "NULL" : "3", from * S, to * S, frames);
	run_sql(sql);
}

static void look(double load_s, double step_s)
{
	struct finding finding = {
		.load_mean_ns = load_s * S, .wait_p50_ns = NAN, .compute_p50_ns = step_s * S};

	cr_assert_eq(lines_read(db, &samples), 0);
	cr_assert_eq(stuck_read(db, &samples, 1, &finding, &stuck, &count), 0);
}

static void done(void)
{
	free(stuck);
	lines_free(&samples);
}

Test(stuck, ten_seconds_and_three_times_what_is_usual)
{
	add(5, "worker", 100, 109.9, "1 2 4");
	add(6, "worker", 80, 110, "1 2 4");
	add(7, "worker", 99, 110, "1 2 4");
	look(NAN, NAN);
	cr_assert_eq(count, 2);
	cr_expect_eq(stuck[0].pid, 6, "the longest first");
	cr_expect_eq(stuck[0].inner, 0);
	cr_expect_eq(stuck[0].frame, 1, "the user's line");
	cr_expect_eq(stuck[1].pid, 7);
	done();
	look(4, 0.1);
	cr_assert_eq(count, 1, "11 s are less than three loads");
	cr_expect_eq(stuck[0].pid, 6);
	done();
	look(0.1, 10);
	cr_expect_eq(count, 0, "30 s are no more than three steps");
	done();
}

Test(stuck, who_moves_on_or_is_gone_or_has_nothing_to_do_is_not)
{
	add(5, "worker", 100, 200, "1 2 4"); /* has loaded meanwhile */
	add(6, "main", 100, 200, "1 2");     /* has got a batch */
	add(7, "worker", 100, 189, "1 2");   /* is gone */
	add(8, "worker", 100, 200, "1 3 4"); /* waits for what to load */
	add(9, "worker", 100, 200, "1 3");   /* likewise, where the loop is cut off */
	add(10, "worker", 100, 200, "");
	add(11, "worker", 100, 200, "77 x");
	add(12, "worker", 300, 200, "1");
	run_sql("INSERT INTO t_batch (loader_id, epoch, task, batch, pid, load_begin_ns, load_ns,"
		" begin_ns, wait_ns) VALUES (1, 0, 0, 0, 5, 190000000000, 5000000000, 196000000000,"
		" 10)");
	look(1, 1);
	cr_expect_eq(count, 0, "pid %d", count ? (int)stuck[0].pid : 0);
	done();
	run_sql("UPDATE t_batch SET load_begin_ns = 150000000000, begin_ns = 160000000000");
	look(1, 1);
	cr_assert_eq(count, 2);
	cr_expect_eq(stuck[0].pid, 5);
	cr_expect_eq(stuck[0].since_ns, 155000000000, "since its last load");
	cr_expect_eq(stuck[1].pid, 6);
	cr_expect_eq(stuck[1].since_ns, 160000000010, "since its last batch");
	done();
}

Test(stuck, a_queue_of_the_users_is_no_idle_worker)
{
	add(5, "worker", 100, 200, "1 3 2 4");
	add(6, "main", 100, 200, "1 3 4");
	look(NAN, NAN);
	cr_expect_eq(count, 2);
	done();
}

Test(stuck, numbers_that_cannot_be)
{
	run_sql("INSERT INTO t_doing (pid, role, since_ns, seen_ns, frames) VALUES"
		" (1, 'worker', 0, 9223372036854775807, '1'),"
		" (2, 'x', -9223372036854775808, 9223372036854775807, '1'),"
		" (3, 'worker', 9223372036854775807, -9223372036854775808, '1'),"
		" (4, 'worker', 5, 6, '99999999999999999999 -1 1');"
		"INSERT INTO t_batch (loader_id, epoch, task, batch, pid, load_begin_ns, load_ns,"
		" begin_ns, wait_ns) VALUES (1, 0, 0, 0, 1, 9223372036854775807,"
		" 9223372036854775807, -9223372036854775808, 9223372036854775807)");
	look(NAN, NAN);
	cr_expect_leq(count, 1);
	done();
}
