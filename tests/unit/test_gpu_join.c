/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_gpu_join.c - compares what the drain makes of operations that come late and out of order
 * with counting. Functions of this file stand in for the database's writer.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drain/gpu/gpu_join.h"

enum { END = 4000, STEPS = 100, OPS = 1500, MS = 1000000 };

static struct dlprof_header header = {.pid = 77};
static struct segment segment = {.header = &header};
static const struct life life = {.pid = 77};
static struct gpu_join gpu;

/* What the drain has written. */
static struct gpu_values values[STEPS];
static bool written[STEPS];
static size_t step_count, gap_count;
static int64_t taken_back[2]; /* [from, to) of steps whose values were made unknown */
static char clock_is[8];

void gpu_values_init(struct gpu_values *out)
{
	int64_t *at = (int64_t *)out;

	for (size_t i = 0; i < sizeof(*out) / sizeof(*at); i++)
		at[i] = UNKNOWN;
}

int writer_gpu_step(struct writer *writer, const struct gpu_values *of)
{
	step_count++;
	if (of->task >= 0 && of->task < STEPS) {
		cr_expect_not(written[of->task], "once");
		values[of->task] = *of;
		written[of->task] = true;
	}
	return 0;
}

int writer_gpu_device(struct writer *writer, const struct gpu_device_row *row)
{
	return 0;
}

/* Fails: no test here records at level api. */
int writer_gpu_call(struct writer *writer, const struct gpu_call_values *calls)
{
	(void)writer;
	(void)calls;
	cr_assert_fail("calls were written");
	return 0;
}

int writer_gpu_part(struct writer *writer, const struct gpu_part_values *parts)
{
	return 0;
}

int writer_no_gpu(struct writer *writer, int64_t pid, int64_t begin_ns, int64_t end_ns,
		  bool *ret_any)
{
	*ret_any = true;
	taken_back[0] = begin_ns;
	taken_back[1] = end_ns;
	return 0;
}

int writer_gap(struct writer *writer, int64_t pid, int64_t begin_ns, int64_t end_ns,
	       const char *why)
{
	cr_expect_eq(pid, header.pid);
	gap_count++;
	return 0;
}

int writer_meta(struct writer *writer, enum meta key, const char *value)
{
	if (key == META_CLOCK)
		snprintf(clock_is, sizeof(clock_is), "%s", value);
	return 0;
}

int writer_meta_number(struct writer *writer, enum meta key, int64_t value)
{
	return 0;
}

int writer_kernel(struct writer *writer, int64_t id, const char *symbol, const char *name)
{
	return 0;
}

int writer_loss(struct writer *writer, int64_t pid, const char *what, int64_t count)
{
	return 0;
}

int writer_note(struct writer *writer, const char *level, const char *text)
{
	return 0;
}

static void take(const struct dlprof_event *event)
{
	cr_assert_eq(gpu_join_take(&gpu, &segment, event), 0);
}

static void tell(enum dlprof_gpu_state_kind kind, int64_t when_ns, uint64_t records, uint64_t bad)
{
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_GPU_STATE,
		.begin_ns = (uint64_t)when_ns,
		.gpu_state = {.state = kind,
			      .flags = DLPROF_GPU_WITH_KERNELS,
			      .record_count = records,
			      .bad_count = bad},
	};

	take(&event);
}

struct span {
	int64_t begin, end;
	enum dlprof_gpu_kind kind;
	uint64_t bytes;
	uint32_t id;
	int device;
};

static void send(const struct span *span)
{
	struct dlprof_event event = {.worker = span->device,
				     .begin_ns = (uint64_t)span->begin,
				     .duration_ns = (uint64_t)(span->end - span->begin)};
	struct dlprof_gpu_op op = {0, 0, DLPROF_GPU_WHAT(span->kind, 7, span->id)};

	if (span->kind == DLPROF_GPU_H2D) {
		event.kind = DLPROF_EVENT_GPU_COPIES;
		event.gpu_copies.count = 1;
		event.gpu_copies.copies[0] = (struct dlprof_gpu_copy){op, (uint32_t)span->bytes, 0};
	} else {
		event.kind = DLPROF_EVENT_GPU_OPS;
		event.gpu_ops.count = 1;
		event.gpu_ops.ops[0] = op;
	}
	take(&event);
}

static void begin(void)
{
	memset(written, 0, sizeof(written));
	step_count = gap_count = 0;
	taken_back[0] = taken_back[1] = 0;
	clock_is[0] = '\0';
	gpu = (struct gpu_join){0};
	tell(DLPROF_GPU_ATTACHED, 0, 0, 0);
}

TestSuite(gpu_join, .init = begin);

/* Of each step: its begin, the end of its wait, and its end. The last step ends at END. */
static int64_t steps[STEPS][3];

static void make_steps(void)
{
	int64_t at = 1;

	for (int i = 0; i < STEPS; i++) {
		int64_t length = (END - 1) / STEPS;

		steps[i][0] = at;
		steps[i][1] = at + rand() % length;
		steps[i][2] = at += length;
	}
}

static int64_t count(const struct span *spans, bool copies, int64_t from, int64_t to)
{
	static bool busy[END + 200];
	int64_t sum = 0;

	memset(busy, 0, sizeof(busy));
	for (int i = 0; i < OPS; i++)
		if ((spans[i].kind == DLPROF_GPU_H2D) == copies)
			memset(busy + spans[i].begin, 1, (size_t)(spans[i].end - spans[i].begin));
	for (int64_t i = from; i < to; i++)
		sum += busy[i];
	return sum;
}

/* Gives the drain operations in any order, some at a time, and steps before or after their own. */
static void run(const struct span *spans, int64_t unknown_from, int64_t unknown_to)
{
	bool sent[OPS] = {false};
	int sent_count = 0, told = 0;

	for (int64_t now = END / 8; sent_count < OPS || told < STEPS;
	     now += 1 + rand() % (END / 4)) {
		for (int i = 0; i < OPS; i++) {
			if (sent[i] || spans[i].begin >= now)
				continue;
			send(&spans[i]);
			sent[i] = true;
			sent_count++;
		}
		while (told < STEPS && steps[told][0] < now + rand() % 100) {
			cr_assert_eq(gpu_join_batch(
					     &gpu, &life,
					     &(struct gpu_batch){1, 0, told, steps[told][0],
								 steps[told][2],
								 steps[told][1] - steps[told][0]}),
				     0);
			told++;
		}
		tell(DLPROF_GPU_COMPLETE, now, (uint64_t)sent_count, 0);
		cr_assert_eq(gpu_join_round(&gpu, false), 0);
		for (int i = 0; i < STEPS; i++)
			cr_expect(!written[i] || steps[i][2] <= now, "step %d before its time", i);
	}
	tell(DLPROF_GPU_COMPLETE, END + 200, OPS, 0);
	cr_assert_eq(gpu_join_round(&gpu, true), 0);
	for (int i = 0; i < STEPS; i++) {
		bool unknown = steps[i][0] < unknown_to && steps[i][2] > unknown_from;

		cr_assert_eq(written[i], !unknown, "step %d", i);
		if (unknown)
			continue;
		cr_expect_eq(values[i].gpu_busy_ns, count(spans, false, steps[i][0], steps[i][2]));
		cr_expect_eq(values[i].h2d_ns, count(spans, true, steps[i][0], steps[i][2]));
		cr_expect_eq(values[i].gpu_idle_wait_ns,
			     steps[i][1] - steps[i][0] -
				     count(spans, false, steps[i][0], steps[i][1]));
		cr_expect_eq(values[i].gap_data_ns + values[i].gap_h2d_ns + values[i].gap_sync_ns +
				     values[i].gap_host_ns + values[i].gap_other_ns,
			     steps[i][2] - steps[i][0] - values[i].gpu_busy_ns);
	}
	gpu_join_done(&gpu);
}

static void make_spans(struct span *spans)
{
	for (int i = 0; i < OPS; i++) {
		int64_t at = rand() % END;

		spans[i] = (struct span){at, at + rand() % (rand() % 20 ? 9 : 150),
					 rand() % 5 ? DLPROF_GPU_KERNEL : DLPROF_GPU_H2D, 1, 1};
	}
}

Test(gpu_join, random_steps_agree_with_counting)
{
	static struct span spans[OPS];

	for (int round = 0; round < 40; round++) {
		srand((unsigned int)round);
		if (round)
			begin();
		make_steps();
		make_spans(spans);
		run(spans, 0, 0);
		cr_expect_str_eq(clock_is, "gpu");
	}
}

Test(gpu_join, what_lies_in_a_gap_is_not_written)
{
	static struct span spans[OPS];

	for (int round = 0; round < 40; round++) {
		int64_t from, to;

		srand((unsigned int)round);
		if (round)
			begin();
		make_steps();
		make_spans(spans);
		from = rand() % END;
		to = from + 1 + rand() % 300;
		tell(DLPROF_GPU_GAP_BEGIN, from, 0, 0);
		tell(DLPROF_GPU_GAP_END, to, 0, 0);
		run(spans, from, to);
		cr_expect_eq(gap_count, 2);
	}
}

/* With as many bad records as a broken clock makes, nothing is known, and no clock is named.
 */
Test(gpu_join, a_clock_that_cannot_be_is_nobodys)
{
	srand(1);
	make_steps();
	for (int i = 0; i < STEPS; i++) {
		gpu_join_batch(&gpu, &life,
			       &(struct gpu_batch){1, 0, i, steps[i][0], steps[i][2], 1});
		tell(DLPROF_GPU_COMPLETE, steps[i][2], 50 * (uint64_t)(i + 1),
		     10 * (uint64_t)(i + 1));
		gpu_join_round(&gpu, false);
	}
	gpu_join_round(&gpu, true);
	cr_expect_eq(step_count, 0);
	cr_expect_str_eq(clock_is, "");
	cr_expect_eq(gap_count, 1);
}

static void send_launches(int64_t at, uint32_t count)
{
	send(&(struct span){at, at, DLPROF_GPU_LAUNCH, 0, count});
}

/* Another thread reports its launches only when it launches again. */
Test(gpu_join, launches_of_other_threads_come_late)
{
	tell(DLPROF_GPU_HOST, 0, 0, 0);
	for (int i = 0; i < 5; i++) {
		int64_t at = 1000 * (i + 1);

		send_launches(at, 3);
		gpu_join_round(&gpu, false);
		if (i)
			send_launches(at - 1, 4);
		gpu_join_batch(&gpu, &life, &(struct gpu_batch){1, 0, i, at, at + 1000, 1});
		gpu_join_round(&gpu, false);
		cr_expect_not(written[i]);
		cr_expect(!i || written[i - 1], "step %d is waited for", i - 1);
	}
	gpu_join_round(&gpu, true);
	for (int i = 0; i < 5; i++)
		cr_expect_eq(values[i].kernel_count, i < 4 ? 7 : 3);
}

/* The launches at the begin of a step are kept until its end, however long the step is. */
Test(gpu_join, a_long_step_keeps_its_launches)
{
	const int64_t second = 1000 * MS;
	struct timespec time;
	int64_t begin_ns;

	clock_gettime(CLOCK_MONOTONIC, &time);
	begin_ns = time.tv_sec * second - 30 * second;
	tell(DLPROF_GPU_HOST, 0, 0, 0);
	gpu_join_batch(&gpu, &life, &(struct gpu_batch){1, 0, 0, begin_ns - second, begin_ns, 1});
	for (int i = 0; i < 6000; i++)
		send_launches(begin_ns + i, 1);
	for (int i = 0; i < 3; i++) {
		gpu_join_keep_from(&gpu, &life, begin_ns);
		gpu_join_round(&gpu, false);
	}
	gpu_join_batch(&gpu, &life,
		       &(struct gpu_batch){1, 0, 1, begin_ns, begin_ns + 30 * second, 1});
	gpu_join_round(&gpu, true);
	cr_expect_eq(values[1].kernel_count, 6000);
}

static void send_kernel(int64_t from_ns, int64_t to_ns)
{
	send(&(struct span){from_ns, to_ns, DLPROF_GPU_KERNEL, 0, 0});
}

static void add_step(int task, int64_t begin_ns, int64_t end_ns)
{
	gpu_join_batch(&gpu, &life, &(struct gpu_batch){1, 0, task, begin_ns, end_ns, 1});
}

/* CUPTI may deliver an operation in a later buffer: the step's values are then written again. */
Test(gpu_join, what_comes_late_is_in_its_step_all_the_same)
{
	add_step(0, 1000, 2000);
	add_step(1, 2000, 3000);
	send_kernel(1100, 1200);
	send_kernel(2100, 2200);
	tell(DLPROF_GPU_COMPLETE, 3000, 2, 0);
	gpu_join_round(&gpu, false);
	cr_assert(written[0] && written[1]);
	written[0] = written[1] = false;
	send_kernel(1500, 1900);
	gpu_join_round(&gpu, false);
	cr_expect(written[0] && !written[1]);
	cr_expect_eq(values[0].gpu_busy_ns, 500);
	gpu_join_round(&gpu, true);
	cr_expect_eq(step_count, 3);
	cr_expect_eq(gap_count, 0);
}

/* A damaged ring may have times that cannot be. The longest that is believed is 73 years. */
Test(gpu_join, times_that_cannot_be_are_left_out)
{
	const int64_t most = INT64_MAX / 4;

	add_step(0, 1000, 2000);
	send_kernel(1100, 1200);
	send_kernel(-100, 1500);
	send_kernel(1300, 1300 + most + 1);
	send_kernel(most + 1, most + 2);
	tell(DLPROF_GPU_COMPLETE, 2000, 4, 0);
	gpu_join_round(&gpu, false);
	cr_expect_eq(values[0].gpu_busy_ns, 100);
	written[0] = false;
	send_kernel(1900, 1900 + most);
	gpu_join_round(&gpu, true);
	cr_expect_eq(values[0].gpu_busy_ns, 200);
}

/* Makes 30 steps of a second, and an operation that is in an old one of them and comes last. */
static void send_too_late(int device)
{
	const int64_t second = 1000 * MS;

	for (int i = 0; i < 30; i++) {
		add_step(i, i * second, (i + 1) * second);
		send_kernel(i * second + 5, i * second + 9);
	}
	tell(DLPROF_GPU_COMPLETE, 30 * second, 30, 0);
	gpu_join_round(&gpu, false);
	cr_expect_eq(step_count, 30);
	written[20] = written[21] = false;
	send(&(struct span){5 * second, 22 * second, DLPROF_GPU_KERNEL, .device = device});
	gpu_join_round(&gpu, true);
}

/* An operation makes a step unknown if the step's other operations were dropped by then. */
Test(gpu_join, what_comes_too_late_takes_back_what_was_written)
{
	const int64_t second = 1000 * MS;

	send_too_late(0);
	cr_expect_eq(taken_back[0], 5 * second);
	cr_expect_eq(taken_back[1], 20 * second);
	cr_expect_eq(values[21].gpu_busy_ns, second);
	cr_expect_eq(gap_count, 1);
}

Test(gpu_join, what_comes_too_late_may_be_of_the_second_gpu)
{
	const int64_t second = 1000 * MS;

	send_too_late(1);
	cr_expect_eq(taken_back[0], 5 * second);
	cr_expect_eq(taken_back[1], 20 * second);
}

/* Steps without operations, as when an unseen client of CUPTI takes them, are no idle GPU. */
Test(gpu_join, of_a_step_without_any_operation_nothing_is_known)
{
	for (int i = 0; i < 3; i++)
		add_step(i, 1000 * i, 1000 * (i + 1));
	send_kernel(10, 1001);
	tell(DLPROF_GPU_COMPLETE, 3000, 1, 0);
	gpu_join_round(&gpu, true);
	cr_expect(written[0] && written[1] && !written[2]);
}
