/* SPDX-License-Identifier: Apache-2.0 */
/* Each stack sample is of the innermost load, wait or step of its thread, and counts once. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "drain/batches/sampler.h"
#include "drain/batches/stream.h"
#include "drain/lines/booking.h"
#include "fake_run.h"
#include "store/database/db_open.h"

static struct fake_run run;
static struct booking *booking;
static struct seen_stacks *seen;
static struct db *db;
static struct writer *writer;

static void set_up(void)
{
	fake_run_make(&run);
	cr_assert_eq(db_open_write(run.database, &db), 0);
	cr_assert_eq(writer_open(db, &writer), 0);
	cr_assert_eq(booking_open(&booking), 0);
	cr_assert_eq(seen_open(&seen), 0);
}

static void tear_down(void)
{
	booking_close(booking);
	seen_close(seen);
	writer_close(writer);
	db_close(db);
	fake_run_remove(&run);
}

TestSuite(booking, .init = set_up, .fini = tear_down);

/* Returns the number of a stack of one frame, at this line. */
static uint32_t stack_of(int32_t line)
{
	const struct code code = {.file = "train.py", .name = "load"};
	const struct stack stack = {.frames = {{&code, line}}, .depth = 1};

	return seen_stack(seen, &stack);
}

static void sample(uint64_t when_ns, uint32_t tid, int32_t line)
{
	booking_add(booking, &(struct booking_sample){.when_ns = when_ns,
						      .pid = 7,
						      .tid = tid,
						      .role = LINE_ROLE_MAIN,
						      .stack = stack_of(line),
						      .holder = SEEN_NONE,
						      .weight_ns = 10});
}

static void claim(uint64_t begin_ns, uint64_t end_ns, enum booking_from from,
		  enum line_phase phase, int64_t loader_id)
{
	booking_claim(booking, &(struct booking_span){7, 7, begin_ns, end_ns, from, phase,
						      loader_id});
}

static void write_all(void)
{
	cr_assert_eq(booking_write(booking, seen, writer), 0);
	booking_written(booking);
}

/* Returns the time that is booked on a phase of a loader. */
static int64_t booked(const char *phase, int64_t loader_id)
{
	char sql[200];

	snprintf(sql, sizeof(sql), "SELECT TOTAL(ns) FROM t_stack WHERE phase = '%s' AND"
		 " loader_id = %d", phase, (int)loader_id);
	return fake_run_ask(&run, sql);
}

Test(booking, a_span_takes_the_samples_of_its_thread_and_time)
{
	for (uint64_t at = 0; at < 100; at += 10) {
		sample(at, 7, 1);
		sample(at + 1, at == 40 ? 8 : 9, 1);
	}
	claim(20, 50, BOOKING_FREE, LINE_LOAD, 3);
	cr_expect_eq(booking_count(booking, true), 3, "those at 20, 30 and 40");
	cr_expect_eq(booking_count(booking, false), 0);
	/* What is around the load does not take its samples again. */
	claim(0, 70, BOOKING_FREE, LINE_NOT_READY, 3);
	cr_expect_eq(booking_count(booking, true), 3);
	cr_expect_eq(booking_count(booking, false), 4, "those at 0, 10, 50 and 60");
	booking_expire(booking, 90);
	cr_expect_eq(booking_count(booking, false), 4 + 2 + 9, "those of other threads, too");
	write_all();
	cr_expect_eq(booked("load", 3), 30);
	cr_expect_eq(booked("not_ready", 3), 40);
	cr_expect_eq(booked("other", 0), 110);
	/* That at 90 waits still. */
	booking_expire(booking, 91);
	write_all();
	cr_expect_eq(booked("other", 0), 120);
}

Test(booking, equal_stacks_are_summed_up)
{
	static const struct {
		int32_t line;
		int64_t loader_id;
	} samples[] = {{1, 3}, {2, 3}, {1, 3}, {1, 4}};

	for (uint64_t i = 0; i < 4; i++) {
		sample(i, 7, samples[i].line);
		claim(i, i + 1, BOOKING_FREE, LINE_LOAD, samples[i].loader_id);
	}
	write_all();
	cr_expect_eq(fake_run_ask(&run, "SELECT COUNT(*) FROM t_stack"), 3);
	cr_expect_eq(fake_run_ask(&run, "SELECT MAX(count) FROM t_stack"), 2);
	cr_expect_eq(fake_run_ask(&run, "SELECT COUNT(*) FROM t_frame"), 2);
	cr_expect_eq(booked("load", 3), 30);
	cr_expect_eq(booked("load", 4), 10);
	write_all();
	cr_expect_eq(booked("load", 3), 30, "what is written is not written again");
}

/* A loader that is not known yet takes samples for the time being. */
Test(booking, a_load_whose_loader_is_known_later)
{
	sample(10, 7, 1);
	sample(20, 7, 1);
	claim(0, 30, BOOKING_FREE, LINE_LOAD, 0);
	cr_expect_eq(booking_count(booking, true), 0);
	claim(0, 30, BOOKING_FREE, LINE_NOT_READY, 3);
	claim(0, 30, BOOKING_WAITS, LINE_RECEIVING, 3);
	cr_expect_eq(booking_count(booking, false), 0, "they are a load's");
	claim(0, 15, BOOKING_LOADS, LINE_LOAD, 3);
	cr_expect_eq(booking_count(booking, true), 1);
	booking_expire(booking, 100);
	cr_expect_eq(booking_count(booking, true), 2, "and if it is never known");
	write_all();
	cr_expect(booked("load", 3) == 10 && booked("load", 0) == 10);
	/* The same of a wait. */
	sample(110, 7, 1);
	claim(100, 120, BOOKING_FREE, LINE_NOT_READY, 0);
	claim(100, 120, BOOKING_LOADS, LINE_LOAD, 3);
	claim(100, 120, BOOKING_WAITS, LINE_RECEIVING, 3);
	write_all();
	cr_expect(booked("receiving", 3) == 10 && booked("load", 3) == 10);
}

Test(booking, between_its_loads_a_worker_waits_for_nobody)
{
	for (uint64_t at = 0; at < 40; at += 10)
		sample(at, 7, 1);
	claim(0, 5, BOOKING_FREE, LINE_LOAD, 0);
	booking_drop(booking, 7, 8, 0, 40);
	booking_drop(booking, 8, 7, 0, 40);
	booking_drop(booking, 7, 7, 0, 30);
	booking_expire(booking, 100);
	cr_expect_eq(booking_count(booking, true), 1, "the load keeps its own");
	cr_expect_eq(booking_count(booking, false), 1, "that at 30");
}

Test(booking, who_holds_the_interpreter_is_booked_beside_the_one_that_waits)
{
	booking_add(booking, &(struct booking_sample){.when_ns = 5,
						      .pid = 7,
						      .tid = 7,
						      .role = LINE_ROLE_MAIN,
						      .stack = stack_of(1),
						      .holder = stack_of(2),
						      .weight_ns = 10});
	claim(0, 10, BOOKING_FREE, LINE_NOT_READY, 3);
	write_all();
	cr_expect_eq(fake_run_ask(&run, "SELECT ns FROM t_stack WHERE role = 'main'"), 10);
	cr_expect_eq(fake_run_ask(&run, "SELECT ns FROM t_stack WHERE role = 'thread'"), 10);
	cr_expect_eq(booking_count(booking, false), 1, "it is one sample");
}

/* In steps it is also booked whether the main thread waited for the interpreter, or held it. */
Test(booking, steps_that_wait_for_the_interpreter_or_hold_it)
{
	static const char *const roles[] = {"holder", "thread", "python"};
	struct booking_sample sample = {
		.pid = 7, .tid = 7, .role = LINE_ROLE_MAIN, .stack = stack_of(1), .weight_ns = 10};

	for (int wait = 0; wait < 2; wait++) {
		for (int i = 0; i < 6; i++) {
			sample.when_ns = (uint64_t)(100 * wait + i);
			sample.awaits_gil = i < 3;
			sample.has_gil = i == 5;
			sample.holder = i == 5 ? SEEN_NONE : stack_of(2);
			booking_add(booking, &sample);
		}
	}
	claim(0, 10, BOOKING_FREE, LINE_AFTER, 3);
	claim(100, 110, BOOKING_FREE, LINE_RECEIVING, 3);
	write_all();
	for (int i = 0; i < 3; i++) {
		char sql[200];

		snprintf(sql, sizeof(sql), "SELECT TOTAL(ns) FROM t_stack WHERE role = '%s' AND"
			 " phase = 'after'", roles[i]);
		cr_expect_eq(fake_run_ask(&run, sql), 30 - 10 * i, "%s", roles[i]);
	}
	cr_expect_eq(fake_run_ask(&run, "SELECT TOTAL(ns) FROM t_stack WHERE role = 'thread' AND"
				  " phase = 'receiving'"), 50);
	cr_expect_eq(fake_run_ask(&run, "SELECT COUNT(*) FROM t_stack"), 6);
}

Test(booking, of_too_many_that_wait_the_oldest_are_given_up)
{
	for (uint64_t at = 0; at < 10000; at++)
		sample(at, 7, 1);
	cr_expect_eq(booking_count(booking, false), 10000 - 8192);
	claim(0, 10000, BOOKING_FREE, LINE_NOT_READY, 3);
	cr_expect_eq(booking_count(booking, false), 10000);
	write_all();
	cr_expect_eq(booked("not_ready", 3), 81920);
	cr_expect_eq(booked("other", 0), 18080);
}

Test(booking, equal_stacks_have_one_number)
{
	const struct code load = {.file = "a.py", .name = "load"};
	const struct code loop = {.file = "worker.py", .name = "_worker_loop"};
	const struct code boot = {.file = "process.py", .name = "BaseProcess._bootstrap"};
	struct stack stack = {.frames = {{&load, 3}, {&load, 9}, {&loop, 5}, {&boot, 1}},
			      .depth = 4};
	const uint32_t number = seen_stack(seen, &stack);
	const char *text;

	cr_assert_neq(number, SEEN_NONE);
	cr_expect_eq(seen_stack(seen, &stack), number);
	cr_assert_eq(seen_text(seen, number, writer, &text), 0);
	cr_expect_str_eq(text, "1 2", "without the worker's own loop");
	stack.depth = 2;
	cr_expect_eq(seen_stack(seen, &stack), number);
	stack.depth = 1;
	cr_expect_neq(seen_stack(seen, &stack), number);
	stack.frames[0].line = 4;
	cr_assert_eq(seen_text(seen, seen_stack(seen, &stack), writer, &text), 0);
	cr_expect_str_eq(text, "3", "another line");
	/* A thread that is in its entry function only. */
	stack.frames[0].code = &loop;
	cr_assert_eq(seen_text(seen, seen_stack(seen, &stack), writer, &text), 0);
	cr_expect_str_eq(text, "4");
	stack.depth = 0;
	cr_expect_eq(seen_stack(seen, &stack), SEEN_NONE);
	/* Another database has no frames yet. */
	cr_assert_eq(fake_run_ask(&run, "SELECT COUNT(*) FROM t_frame"), 4);
	seen_forget_ids(seen);
	cr_assert_eq(seen_text(seen, number, writer, &text), 0);
	cr_expect_str_eq(text, "1 2");
}

/* The linker lets calls of booking_claim() come here: what the sampler claims is noted. */
void __real_booking_claim(struct booking *to, const struct booking_span *span);
void __wrap_booking_claim(struct booking *to, const struct booking_span *span);

static struct booking_span claims[16];
static size_t claim_count;

void __wrap_booking_claim(struct booking *to, const struct booking_span *span)
{
	if (claim_count < sizeof(claims) / sizeof(claims[0]))
		claims[claim_count++] = *span;
	__real_booking_claim(to, span);
}

#define NOBODY 0

/* The training's thread 7 asks at 120 and has the batch in hand at 180, after its loading ended. */
static struct entry a_batch(uint64_t ordinal)
{
	return (struct entry){
		.loaded = true,
		.delivered = true,
		.stepped = true,
		.parts_seen = true,
		.loader.pid = 21,
		.load = {.begin_ns = 100, .duration_ns = 50},
		.batch = {.begin_ns = 120,
			  .duration_ns = 60,
			  .batch = {.ordinal = ordinal, .sample_ns = 10}},
		.free_ns = 4,
		.step_end_ns = 300,
		.parts = {.backward_ns = 220, .last_ns = 260},
	};
}

static void expect_claims(int64_t workers, const struct entry *entry,
			  const struct booking_span *spans)
{
	struct stream stream = {
		.consumer.pid = 7, .tid = 7, .loader_id = 9, .place.workers = workers};
	struct sampler *sampler;
	size_t i;

	sampler_open(&sampler);
	cr_assert(sampler);
	claim_count = 0;
	sampler_settle(sampler, &stream, entry);
	sampler_close(sampler);
	for (i = 0; spans[i].pid != NOBODY; i++)
		cr_expect(i < claim_count && claims[i].pid == spans[i].pid &&
				  claims[i].tid == spans[i].tid &&
				  claims[i].begin_ns == spans[i].begin_ns &&
				  claims[i].end_ns == spans[i].end_ns &&
				  claims[i].from == spans[i].from &&
				  claims[i].phase == spans[i].phase && claims[i].loader_id == 9,
			  "span %zu: %d %u %d %d", i, (int)claims[i].begin_ns,
			  (unsigned)claims[i].end_ns, claims[i].from, claims[i].phase);
	cr_expect_eq(claim_count, i);
}

#define LOAD_SPAN {21, 21, 100, 150, BOOKING_LOADS, LINE_LOAD, 9}
#define STEP_SPANS                                                                                 \
	{7, 7, 184, 220, BOOKING_FREE, LINE_BEFORE, 9},                                            \
		{7, 7, 260, 300, BOOKING_FREE, LINE_AFTER, 9},                                     \
		{7, 7, 184, 300, BOOKING_FREE, LINE_STEP, 9}

Test(booking, a_wait_is_not_ready_until_the_load_ended_then_receiving)
{
	struct entry entry = a_batch(5);

	expect_claims(4, &entry,
		      (struct booking_span[]){
			      LOAD_SPAN,
			      {7, 7, 170, 180, BOOKING_WAITS, LINE_SAMPLING, 9},
			      {7, 7, 120, 150, BOOKING_WAITS, LINE_NOT_READY, 9},
			      {7, 7, 150, 180, BOOKING_WAITS, LINE_RECEIVING, 9},
			      {7, 7, 180, 184, BOOKING_FREE, LINE_RECEIVING, 9},
			      STEP_SPANS,
			      {NOBODY},
		      });
	/* No more can be sampling than what followed the load. */
	entry.batch.batch.sample_ns = 50;
	expect_claims(4, &entry,
		      (struct booking_span[]){
			      LOAD_SPAN,
			      {7, 7, 150, 180, BOOKING_WAITS, LINE_SAMPLING, 9},
			      {7, 7, 120, 150, BOOKING_WAITS, LINE_NOT_READY, 9},
			      {7, 7, 150, 180, BOOKING_WAITS, LINE_RECEIVING, 9},
			      {7, 7, 180, 184, BOOKING_FREE, LINE_RECEIVING, 9},
			      STEP_SPANS,
			      {NOBODY},
		      });
	/* A batch that was finished when it was asked for. */
	entry.batch.batch.sample_ns = UINT64_MAX;
	entry.load.duration_ns = 10;
	expect_claims(4, &entry,
		      (struct booking_span[]){
			      {21, 21, 100, 110, BOOKING_LOADS, LINE_LOAD, 9},
			      {7, 7, 120, 180, BOOKING_WAITS, LINE_RECEIVING, 9},
			      {7, 7, 180, 184, BOOKING_FREE, LINE_RECEIVING, 9},
			      STEP_SPANS,
			      {NOBODY},
		      });
	/* By the worker's clock its load ended only after the batch was in hand. */
	entry.load.duration_ns = 200;
	entry.stepped = false;
	expect_claims(4, &entry,
		      (struct booking_span[]){
			      {21, 21, 100, 300, BOOKING_LOADS, LINE_LOAD, 9},
			      {7, 7, 120, 180, BOOKING_WAITS, LINE_NOT_READY, 9},
			      {7, 7, 180, 184, BOOKING_FREE, LINE_RECEIVING, 9},
			      {NOBODY},
		      });
}

Test(booking, the_first_waits_of_an_epoch_are_its_start)
{
	const struct entry fourth = a_batch(3);

	expect_claims(4, &fourth,
		      (struct booking_span[]){
			      LOAD_SPAN,
			      {7, 7, 120, 150, BOOKING_WAITS, LINE_EPOCH_START, 9},
			      {7, 7, 150, 180, BOOKING_WAITS, LINE_EPOCH_START, 9},
			      {7, 7, 180, 184, BOOKING_FREE, LINE_EPOCH_START, 9},
			      STEP_SPANS,
			      {NOBODY},
		      });
}

Test(booking, without_workers_a_wait_is_sampling_then_the_load)
{
	struct entry entry = a_batch(1);

	entry.loader.pid = 7;
	entry.free_ns = 0;
	entry.stepped = false;
	expect_claims(0, &entry,
		      (struct booking_span[]){
			      {7, 7, 100, 150, BOOKING_LOADS, LINE_LOAD, 9},
			      {7, 7, 120, 130, BOOKING_WAITS, LINE_SAMPLING, 9},
			      {7, 7, 120, 180, BOOKING_WAITS, LINE_NOT_READY, 9},
			      {NOBODY},
		      });
	/* Its first batch starts the epoch. */
	entry.loaded = false;
	entry.batch.batch.ordinal = 0;
	expect_claims(0, &entry,
		      (struct booking_span[]){
			      {7, 7, 120, 180, BOOKING_WAITS, LINE_EPOCH_START, 9},
			      {NOBODY},
		      });
	/* A step that the program marked, and a wait within another one. */
	entry.batch.flags = DLPROF_FLAG_STEP;
	expect_claims(0, &entry,
		      (struct booking_span[]){
			      {7, 7, 120, 180, BOOKING_FREE, LINE_STEP, 9},
			      {NOBODY},
		      });
	entry.batch.flags = DLPROF_FLAG_NESTED;
	expect_claims(0, &entry, (struct booking_span[]){{NOBODY}});
}
