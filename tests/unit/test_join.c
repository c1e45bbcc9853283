/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that tasks under way are found again, and that none costs more if there are many. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "drain/batches/join.h"
#include "drain/batches/stream.h"
#include "fake_run.h"
#include "store/database/db_open.h"

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
	cr_assert_eq(join_open(writer, NULL, NULL, &join), 0);
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

static void take_of(int thread, struct dlprof_event event)
{
	struct record record = {&segment, &segment.rings[thread], 0, &event};

	record.ring->tid = 4711 + (uint32_t)thread;
	cr_assert_eq(join_take(join, &record), 0);
}

static void take(struct dlprof_event event)
{
	take_of(0, event);
}

/* Finishes the drain, and returns the number that a query gives. */
static long long after_all(const char *sql)
{
	static bool finished;

	if (!finished) {
		cr_assert_eq(join_finish(join), 0);
		cr_assert_eq(db_commit(db), 0);
		finished = true;
	}
	return fake_run_ask(&run, sql);
}

Test(join, finds_the_tasks_that_are_under_way)
{
	enum { TASKS = 300, TURNS = 200000 };
	struct stream *stream = calloc(1, sizeof(*stream));
	bool there[TASKS] = {false};
	size_t count = 0, first = 0;

	srand(1);
	for (int turn = 0; turn < TURNS; turn++) {
		/* Takes a random task, or in turn the oldest one. */
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
	/* A batch of one of these loads is handed out after all. */
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

	epoch.epoch.flags = 0; /* it is not known whether batches come in order */
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

/* A drain that looks fifty times as often waits as long for a missing load. */
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

/* A killed drain's successor reads all records again whose rows are not written. */
Test(join, keeps_the_records_of_all_loads_that_are_not_written)
{
	struct ring *ring = &segment.rings[1];
	size_t rows = 0;

	take(fake_epoch(1, 0, 1, 0, 0));
	for (uint32_t task = 0; task < 3; task++) {
		struct dlprof_event load = fake_load(0, 0, task, task, 1);

		cr_assert_eq(join_take(join, &(struct record){&segment, ring, 10 + task, &load}),
			     0);
	}
	ring->read = ring->head = 13;
	cr_assert_eq(join_round(join, &rows), 0);
	join_release(join, &segment);
	cr_expect_eq(ring->release, 10);
	cr_assert_eq(join_finish(join), 0);
	join_release(join, &segment);
	cr_expect_eq(ring->release, 13);
}

/* Its successor knows from the database whether a loader hands over batches in order. */
Test(join, a_drain_that_takes_over_knows_the_order_of_an_epoch)
{
	struct dlprof_event epoch = fake_epoch(1, 0, 2, 0, 0);

	take(epoch);
	epoch = fake_epoch(2, 0, 2, 1, 100);
	epoch.epoch.flags = 0;
	take(epoch);
	cr_assert_eq(join_finish(join), 0);
	join_close(join);
	cr_assert_eq(join_open(writer, NULL, NULL, &join), 0);
	for (uint32_t i = 0; i < 2; i++) {
		take(fake_load(1, i, 1, 100 * i, 12));
		take(fake_load(0, i, 0, 100 * i, 30));
		take(fake_batch(i, 0, 100 * i + 10, 25));
		take(fake_batch(i, 1, 100 * i + 40, 1));
	}
	cr_expect_eq(after_all("SELECT COUNT(hol_ns) FROM batch WHERE batch = 0"), 2);
	cr_expect_eq(after_all("SELECT hol_ns FROM batch WHERE batch = 0 AND loader_id = 1"),
		     18 * MS);
	cr_expect_eq(after_all("SELECT hol_ns FROM batch WHERE batch = 0 AND loader_id = 2"), 0);
}

Test(join, an_epoch_has_the_call_that_ended_it)
{
	struct dlprof_event stop = fake_stop(0, 20);

	stop.duration_ns = 7 * MS;
	take(fake_epoch(1, 0, 1, 0, 0));
	take(fake_batch(0, 0, 10, 5));
	take(stop);
	cr_expect_eq(after_all("SELECT stop_begin_ns FROM epoch"), 20 * MS);
	cr_expect_eq(after_all("SELECT stop_ns FROM epoch"), 7 * MS);
	cr_expect_eq(after_all("SELECT compute_ns FROM batch"), 5 * MS);
}

/* next() raised an error: the training may ask again, so that no epoch ended. */
Test(join, an_error_is_no_end_of_an_epoch)
{
	struct dlprof_event stop = fake_stop(0, 20);

	stop.flags = DLPROF_FLAG_FAILED;
	take(fake_epoch(1, 0, 1, 0, 0));
	take(fake_batch(0, 0, 10, 5));
	take(stop);
	cr_expect_eq(after_all("SELECT count(stop_ns) FROM epoch"), 0);
}

Test(join, an_epoch_is_of_the_thread_that_asks_for_batches)
{
	take_of(1, fake_epoch(1, 0, 1, 0, 0));
	take_of(2, fake_batch(0, 0, 10, 5));
	cr_expect_eq(after_all("SELECT tid FROM epoch"), 4713);
	cr_expect_eq(after_all("SELECT nested FROM epoch"), 0);
}

Test(join, what_a_pool_asks_the_main_thread_waits_for)
{
	struct dlprof_event batch = fake_batch(0, 0, 10, 5);

	batch.flags = DLPROF_FLAG_POOL;
	take_of(1, fake_epoch(1, 0, 1, 0, 0));
	take_of(2, batch);
	cr_expect_eq(after_all("SELECT tid FROM epoch"), 4711);
}

Test(join, waits_within_another_make_an_epoch_nested)
{
	struct dlprof_event batch = fake_batch(0, 0, 10, 5);

	batch.flags = DLPROF_FLAG_NESTED;
	take(fake_epoch(1, 0, 1, 0, 0));
	take(batch);
	cr_expect_eq(after_all("SELECT nested FROM epoch"), 1);
}

Test(join, a_loader_has_the_place_where_it_is_made)
{
	struct dlprof_event place = {.kind = DLPROF_EVENT_PLACE, .task = 3,
				     .mark = "train.py:41 in main"};

	take(fake_epoch(3, 0, 1, 0, 0));
	take(place);
	cr_expect_eq(after_all("SELECT count(*) FROM loader WHERE place = 'train.py:41 in main'"),
		     1);
}

/* The last step of an epoch that was left half-way ends with the next iter() of any loader. */
Test(join, the_last_step_of_an_epoch_that_is_left_ends_when_another_begins)
{
	struct dlprof_event batch = fake_batch(0, 0, 10, 5), other = fake_epoch(2, 0, 1, 0, 40);
	struct dlprof_event again = fake_epoch(1, 1, 1, 1, 90);

	batch.batch.waited_ns = 100 * MS;
	other.stream++;
	other.epoch.waited_ns = 105 * MS;
	again.epoch.waited_ns = 125 * MS;
	take(fake_epoch(1, 0, 1, 0, 0));
	take(batch);
	take(other);
	take(again);
	cr_expect_eq(after_all("SELECT step_ns FROM batch"), 30 * MS);
	cr_expect_eq(after_all("SELECT compute_ns FROM batch"), 25 * MS);
}

/* An iter() of another loader in the middle of an epoch does not end the epoch's step. */
Test(join, an_epoch_that_goes_on_has_the_whole_step)
{
	struct dlprof_event batch = fake_batch(0, 0, 10, 5), next = fake_batch(0, 1, 90, 5);
	struct dlprof_event other = fake_epoch(2, 0, 1, 0, 40);

	batch.batch.waited_ns = 100 * MS;
	other.stream++;
	other.epoch.waited_ns = 105 * MS;
	next.batch.waited_ns = 125 * MS;
	take(fake_epoch(1, 0, 1, 0, 0));
	take(batch);
	take(other);
	take(next);
	cr_expect_eq(after_all("SELECT step_ns FROM batch WHERE batch = 0"), 80 * MS);
	cr_expect_eq(after_all("SELECT compute_ns FROM batch WHERE batch = 0"), 55 * MS);
}

Test(join, an_epoch_within_a_load_ends_no_step)
{
	struct dlprof_event inner = fake_epoch(2, 0, 1, 0, 12);

	inner.stream++;
	inner.flags = DLPROF_FLAG_NESTED;
	take(fake_epoch(1, 0, 1, 0, 0));
	take(fake_batch(0, 0, 10, 5));
	take(inner);
	take(fake_epoch(1, 1, 1, 1, 90));
	cr_expect_eq(after_all("SELECT step_ns FROM batch"), 80 * MS);
}

/* A step has batches of another loader within: freeing after their arrival counts for these. */
Test(join, what_is_freed_after_a_batch_is_waited_for_and_no_compute)
{
	struct dlprof_event first = fake_batch(0, 0, 10, 5), second = fake_batch(0, 1, 90, 5);
	struct dlprof_event other = fake_batch(0, 0, 40, 5), more = fake_batch(0, 1, 60, 5);

	first.batch.waited_ns = 100 * MS;
	other.batch.waited_ns = 107 * MS; /* its own wait of 5 ms, and 2 ms of freeing */
	other.batch.free_ns = 2 * MS;
	more.batch.waited_ns = 115 * MS;
	more.batch.free_ns = 3 * MS;
	second.batch.waited_ns = 120 * MS;
	other.stream++;
	more.stream++;
	take(fake_epoch(1, 0, 1, 0, 0));
	take(first);
	take(other);
	take(more);
	take(second);
	cr_expect_eq(after_all("SELECT free_ns FROM batch WHERE begin_ns = 10000000"), 2 * MS);
	cr_expect_eq(after_all("SELECT free_ns FROM batch WHERE begin_ns = 40000000"), 3 * MS);
	cr_expect_eq(after_all("SELECT compute_ns FROM batch WHERE begin_ns = 40000000"), 12 * MS);
	cr_expect_eq(after_all("SELECT compute_ns FROM batch WHERE begin_ns = 10000000"), 60 * MS);
}

/* After `break` the workers are shut down: the epoch ends then, if the training goes on. */
Test(join, an_epoch_that_is_dropped_ends_when_it_was)
{
	struct dlprof_event batch = fake_batch(0, 0, 10, 5), stop = fake_stop(0, 30);
	struct dlprof_event again = fake_epoch(1, 1, 1, 1, 90);

	batch.batch.waited_ns = 100 * MS;
	stop.flags = DLPROF_FLAG_DROPPED;
	stop.duration_ns = 20 * MS;
	stop.batch.waited_ns = 105 * MS;
	again.epoch.waited_ns = 125 * MS;
	take(fake_epoch(1, 0, 1, 0, 0));
	take(batch);
	take(stop);
	take(again);
	cr_expect_eq(after_all("SELECT step_ns FROM batch"), 20 * MS);
	cr_expect_eq(after_all("SELECT compute_ns FROM batch"), 15 * MS);
	cr_expect_eq(after_all("SELECT stop_ns FROM epoch WHERE epoch = 0"), 20 * MS);
}

/* The time after the last batch may be the training's end, and so is no step. */
Test(join, an_epoch_that_is_dropped_and_nothing_else_ends_no_step)
{
	struct dlprof_event stop = fake_stop(0, 30000);

	stop.flags = DLPROF_FLAG_DROPPED;
	stop.duration_ns = 20 * MS;
	take(fake_epoch(1, 0, 1, 0, 0));
	take(fake_batch(0, 0, 10, 5));
	take(stop);
	cr_expect_eq(after_all("SELECT step_ns FROM batch"), -1);
	cr_expect_eq(after_all("SELECT stop_ns FROM epoch"), 20 * MS);
}

Test(join, parts_of_a_wait_that_nobody_saw_are_unknown)
{
	struct dlprof_event seen = fake_batch(0, 0, 10, 5), unseen = fake_batch(0, 1, 90, 5);

	seen.batch.sample_ns = 2 * MS;
	seen.batch.fetch_count = 4;
	seen.batch.fetch_ns = MS;
	unseen.batch.sample_ns = unseen.batch.fetch_ns = UINT64_MAX;
	unseen.batch.fetch_cpu_ns = UINT64_MAX;
	unseen.batch.fetch_count = UINT32_MAX;
	take(fake_epoch(1, 0, 1, 0, 0));
	take(seen);
	take(unseen);
	take(fake_stop(0, 120));
	cr_expect_eq(after_all("SELECT sample_ns + fetch_count FROM batch WHERE batch = 0"),
		     2 * MS + 4);
	cr_expect_eq(after_all("SELECT free_ns FROM batch WHERE batch = 0"), 0);
	cr_expect_eq(after_all("SELECT COUNT(*) FROM batch WHERE batch = 1 AND"
			       " COALESCE(sample_ns, fetch_count, fetch_ns, fetch_cpu_ns, free_ns)"
			       " IS NULL"),
		     1);
}

static struct dlprof_event fake_parts(uint32_t task, uint64_t at_ms, const uint64_t *ms)
{
	struct dlprof_event parts = fake_batch(0, task, at_ms, 0);

	parts.kind = DLPROF_EVENT_PARTS;
	parts.parts = (struct dlprof_parts){0};
	for (int i = 0; i < DLPROF_PART_MAX; i++)
		parts.parts.ns[i] = ms[i] * MS;
	return parts;
}

/* A step with a wait inside has two records of its parts; a step that does not train has none. */
Test(join, parts_of_a_step_add_up_and_are_unknown_where_there_are_none)
{
	const uint64_t first[] = {5, 4, 3, 2, 1}, second[] = {0, 0, 0, 0, 10};

	take(fake_epoch(1, 0, 1, 0, 0));
	take(fake_batch(0, 0, 10, 5));
	take(fake_parts(0, 40, first));
	take(fake_parts(0, 80, second));
	take(fake_batch(0, 1, 90, 5));
	take(fake_stop(0, 120));
	cr_expect_eq(after_all("SELECT before_ns * 1000 + backward_ns * 100 + between_ns * 10 +"
			       " optimizer_ns FROM batch WHERE batch = 0"), 5432 * MS);
	cr_expect_eq(after_all("SELECT save_ns FROM batch WHERE batch = 0"), 11 * MS);
	cr_expect_eq(after_all("SELECT COUNT(*) FROM batch WHERE batch = 1 AND COALESCE(before_ns,"
			       " backward_ns, between_ns, optimizer_ns, save_ns) IS NULL"), 1);
}

Test(join, an_optimizer_that_nobody_saw_is_unknown)
{
	struct dlprof_event parts = fake_parts(0, 40, (const uint64_t[]){5, 4, 0, 0, 0});

	parts.parts.ns[DLPROF_PART_BETWEEN] = parts.parts.ns[DLPROF_PART_OPTIMIZER] = UINT64_MAX;
	take(fake_epoch(1, 0, 1, 0, 0));
	take(fake_batch(0, 0, 10, 5));
	take(parts);
	take(parts);
	take(fake_batch(0, 1, 90, 5));
	take(fake_stop(0, 120));
	cr_expect_eq(after_all("SELECT COUNT(between_ns) + COUNT(optimizer_ns) FROM batch"), 0);
	cr_expect_eq(after_all("SELECT before_ns FROM batch WHERE batch = 0"), 10 * MS);
}

/* Choosing samples counts up to the time of iter(), 5 ms; a record of more is damaged. */
Test(join, the_time_of_choosing_samples_in_iter_is_the_epochs)
{
	struct dlprof_event epoch = fake_epoch(1, 0, 1, 0, 0);

	epoch.epoch.sample_us = 3200;
	take(epoch);
	epoch = fake_epoch(1, 1, 1, 1, 100);
	epoch.epoch.sample_us = UINT32_MAX;
	take(epoch);
	epoch = fake_epoch(1, 2, 1, 2, 200);
	epoch.epoch.sample_us = DLPROF_EPOCH_SAMPLE_US;
	take(epoch);
	cr_expect_eq(after_all("SELECT sample_ns FROM epoch WHERE epoch = 0"), 3200000);
	cr_expect_eq(after_all("SELECT COUNT(*) FROM epoch WHERE sample_ns IS NULL"), 1);
	cr_expect_eq(after_all("SELECT sample_ns FROM epoch WHERE epoch = 2"), 5 * MS);
}

Test(join, what_is_saved_after_an_epoch_is_that_epochs)
{
	struct dlprof_event parts = fake_parts(0, 200, (const uint64_t[]){0, 0, 0, 0, 30});

	parts.flags = DLPROF_FLAG_OUTSIDE;
	take(fake_epoch(1, 0, 1, 0, 0));
	take(fake_batch(0, 0, 10, 5));
	take(fake_stop(0, 120));
	take(parts);
	take(parts);
	cr_expect_eq(after_all("SELECT save_ns FROM epoch"), 60 * MS);
	cr_expect_eq(after_all("SELECT COUNT(save_ns) FROM batch"), 0);
}
