/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks under way: that they are found again, and that however many there are none costs more. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "drain/join.h"
#include "drain/stream.h"
#include "fake_run.h"

#define MANY UINT32_C(150000) /* an entry less would have to be moved as often as there are more   \
			       */
#define ROUND 5000

static struct fake_run run;
static struct dlprof_header header = {.pid = 4711};
static struct segment segment = {.header = &header};
static struct join *join;
static struct writer *writer;
static struct db *db;

static void set_up(void)
{
	fake_run_make(&run);
	cr_assert_eq(db_open_write(run.database, &db), 0);
	cr_assert_eq(writer_open(db, &writer), 0);
	cr_assert_eq(join_open(writer, &join), 0);
	cr_assert_eq(db_begin(db), 0);
}

static void tear_down(void)
{
	join_close(join);
	writer_close(writer);
	db_close(db);
	fake_run_remove(&run);
}

TestSuite(join, .init = set_up, .fini = tear_down, .timeout = 120);

static void take(struct dlprof_event event)
{
	cr_assert_eq(join_take(join, &segment, &segment.rings[0], 0, &event), 0);
}

Test(join, finds_the_tasks_that_are_under_way)
{
	enum { TASKS = 300, TURNS = 200000 };
	struct stream *stream = calloc(1, sizeof(*stream));
	bool there[TASKS] = {false};
	size_t count = 0, first = 0;

	srand(1);
	for (int turn = 0; turn < TURNS; turn++) {
		/* At random, or what came first goes first. */
		uint32_t task =
			(uint32_t)(turn % 7000 < 3500 ? rand() % TASKS : (int)first++ % TASKS);
		struct entry *entry = entry_find(stream, task);

		cr_assert_eq(entry != NULL, there[task], "task %u in turn %d", task, turn);
		if (entry) {
			cr_assert_eq(entry->round, task);
			entry_remove(stream, entry);
		} else {
			entry = entry_make(stream, task);
			cr_assert_eq(entry->task, task);
			cr_assert_eq(entry->round, 0, "new");
			entry->round = task;
			cr_assert_eq(entry_make(stream, task), entry);
		}
		there[task] = !there[task];
		count += there[task] ? 1 : (size_t)-1;
		cr_assert_eq(stream->count, count);
	}
	stream_free(stream);
}

Test(join, is_done_with_loads_of_which_no_batch_comes)
{
	size_t rows = 0;

	for (uint32_t task = 0; task < MANY; task++) {
		take(fake_load(0, 0, task, task, 1));
		if (task % ROUND == ROUND - 1) {
			cr_assert_eq(join_round(join, &rows), 0);
			cr_assert_leq(task - rows, STREAM_MOST, "%zu of %u", rows, task);
		}
	}
	/* One that is handed out after all. */
	take(fake_epoch(1, 0, 1, 0, 0));
	take(fake_batch(0, MANY - 1, MANY, 1));
	cr_assert_eq(join_finish(join), 0);
	cr_assert_eq(db_commit(db), 0);
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM load"), MANY);
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM batch"), 1);
	cr_expect_eq(fake_run_ask(&run, "SELECT sum(batch) FROM batch"), MANY - 1);
}

Test(join, writes_many_steps_at_once)
{
	struct dlprof_event epoch = fake_epoch(1, 0, 0, 0, 0);
	size_t rows = 0;

	epoch.epoch.flags = 0; /* nobody told whether they come in order */
	take(epoch);
	for (uint32_t task = 0; task < MANY; task++) {
		struct dlprof_event event = fake_batch(0, task, task, 1);

		event.flags = DLPROF_FLAG_STEP;
		take(event);
	}
	cr_assert_eq(join_round(join, &rows), 0);
	cr_assert_eq(join_round(join, &rows), 0);
	cr_expect_eq(rows, MANY);
	cr_assert_eq(join_finish(join), 0);
	cr_assert_eq(db_commit(db), 0);
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM batch WHERE step_ns = 1000000"),
		     MANY);
}

/* The drain looks fifty times as often where there is much to see. */
Test(join, waits_for_a_load_as_long_however_often_it_looks)
{
	size_t rows = 0;

	take(fake_epoch(1, 0, 1, 0, 0));
	take(fake_batch(0, 0, 10, 5));
	take(fake_batch(0, 1, 20, 5));
	for (int i = 0; i < 1000; i++)
		cr_assert_eq(join_round(join, &rows), 0);
	cr_expect_eq(rows, 0, "written without its load");
	take(fake_load(0, 0, 0, 5, 7));
	cr_assert_eq(join_finish(join), 0);
	cr_assert_eq(db_commit(db), 0);
	cr_expect_eq(fake_run_ask(&run, "SELECT load_ns FROM load WHERE batch = 0"), 7 * MS);
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM batch"), 2);
}
