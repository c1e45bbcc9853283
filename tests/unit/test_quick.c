/* SPDX-License-Identifier: Apache-2.0 */
/* Tests read()'s quick way: it gives the same sums, and leaves unusual calls to the other way. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/config.h"
#include "record/activate.h"
#include "record/fd.h"
#include "record/quick.h"
#include "record/segment.h"
#include "record/span.h"
#include "record/thread.h"

static volatile uint32_t on = 1;
static const volatile uint32_t off;
static char folder[] = "/tmp/dlprof-quick-XXXXXX";

static void set_up(void)
{
	cr_assert(mkdtemp(folder));
	thread_life = 1;
	clock_scale = UINT64_C(1) << 32;	/* a tick is a nanosecond */
	clock_limit(config.slow_ns);
	cr_assert_eq(segment_open(folder, 0, -1, -1), 0);
	activate_cell = &on;
	config.detail = CONFIG_DETAIL_SLOW;
}

static void tear_down(void)
{
	char command[80];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	cr_assert_eq(system(command), 0);
}

static void begin(struct span *span, enum dlprof_class class)
{
	memset(span, 0, sizeof(*span));
	span->fd = -1;
	span->name = "test";
	cr_assert(span_begin(span, class));
}

static const struct dlprof_counter *counter(enum dlprof_class class)
{
	return &thread_get()->slot->counters[class];
}

static int open_data(void)
{
	char path[80];
	int fd;

	snprintf(path, sizeof(path), "%s/data", folder);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	cr_assert_geq(fd, 0);
	cr_assert(fd_remember(fd, FD_NAMED, path));
	cr_assert_eq(fd_kind(fd), FD_DATA);
	return fd;
}

/* Records a read as the wrapper of read() does; returns whether it went the quick way. */
static bool read_of(int fd, int64_t bytes, uint64_t ns)
{
	struct quick quick;
	struct span *span = &quick.span;
	bool is_quick = quick_begin(&quick, activate_on(), fd);

	if (!is_quick) {
		begin(span, DLPROF_CLASS_READ);
		span->fd = fd;
		tally_quicken(span->thread, fd);
	}
	span->begin_ticks -= ns;
	if (is_quick)
		cr_expect_eq(quick_end(&quick, bytes, "test"), bytes);
	else
		span_end(span, bytes < 0 ? 0 : (uint64_t)bytes, bytes < 0);
	return is_quick;
}

TestSuite(quick, .init = set_up, .fini = tear_down);

Test(quick, the_third_read_of_a_file_is_quick_and_counted_as_the_others)
{
	int fd = open_data();

	cr_expect(!read_of(fd, 1, 0));
	cr_expect(!read_of(fd, 10, 0));
	cr_expect(read_of(fd, 100, 5000));
	cr_expect(read_of(fd, 1000, 5000));
	cr_expect_eq(counter(DLPROF_CLASS_READ)->count, 4);
	cr_expect_eq(counter(DLPROF_CLASS_READ)->bytes, 1111);
	cr_expect_geq(counter(DLPROF_CLASS_READ)->ns, 10000);
	cr_expect_eq(thread_get()->visit.file->bytes, 1111);
	cr_expect_geq(thread_get()->visit.file->slowest_ns, 5000);
	cr_expect_eq(thread_depth(thread_get()), 0);
}

Test(quick, failures_and_slow_ones_are_told)
{
	const struct dlprof_slot *slot = thread_get()->slot;
	int fd = open_data();

	for (int i = 0; i < 3; i++)
		read_of(fd, 1, 0);
	cr_expect(read_of(fd, -1, 0));
	cr_expect_eq(counter(DLPROF_CLASS_READ)->failed_count, 1);
	cr_expect_eq(counter(DLPROF_CLASS_READ)->count, 4);
	cr_expect_eq(slot->head, 0);
	cr_expect(read_of(fd, 7, config.slow_ns));
	cr_assert_eq(slot->head, 1);
	cr_expect_str_eq(slot->near[0].op.name, "test");
	cr_expect_eq(slot->near[0].op.bytes, 7);
	cr_expect(read_of(fd, 1, 0), "a record does not end the quick way");
}

Test(quick, own_time_inside_and_outside)
{
	const uint64_t second = 1000000000; /* the test may have no core for most of it */
	struct quick outer;
	struct span decode;
	int fd = open_data();

	config.slow_ns = UINT64_MAX;
	for (int i = 0; i < 3; i++)
		read_of(fd, 1, 0);
	begin(&decode, DLPROF_CLASS_DECODE);
	decode.begin_ticks -= 9 * second;
	cr_expect(read_of(fd, 1, 8 * second));
	span_end(&decode, 0, false);
	cr_expect_lt(counter(DLPROF_CLASS_DECODE)->ns, 8 * second);
	/* A read within a read, as in a stream with a callback. */
	cr_assert(quick_begin(&outer, activate_on(), fd));
	outer.span.begin_ticks -= 9 * second;
	read_of(fd, 1, 8 * second);
	quick_end(&outer, 1, "test");
	cr_expect_geq(counter(DLPROF_CLASS_READ)->ns, 17 * second);
	cr_expect_lt(counter(DLPROF_CLASS_READ)->ns, 24 * second);
	cr_expect_eq(counter(DLPROF_CLASS_READ)->count, 6);
}

Test(quick, not_when_the_number_means_something_else)
{
	int fd = open_data(), ends[2];

	for (int i = 0; i < 3; i++)
		read_of(fd, 1, 0);
	fd_forget(fd);
	close(fd);
	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(ends[0], fd);
	cr_expect(!read_of(fd, 1, 0));
	cr_expect_eq(fd_kind(fd), FD_PIPE);
	cr_expect(!read_of(-1, 1, 0));
}

Test(quick, not_where_every_operation_is_a_record)
{
	int fd = open_data();

	config.detail = CONFIG_DETAIL_ALL;
	clock_limit(0);
	for (int i = 0; i < 4; i++)
		cr_expect(!read_of(fd, 1, 0));
	cr_expect_eq(thread_get()->slot->head, 4);
}

Test(quick, nothing_is_written_once_the_cell_is_wiped)
{
	const struct dlprof_slot *slot = thread_get()->slot;
	int fd = open_data();
	struct quick quick;

	for (int i = 0; i < 3; i++)
		read_of(fd, 1, 0);
	cr_assert(quick_begin(&quick, activate_on(), fd));
	activate_cell = &off;
	quick_end(&quick, 1, "test");
	cr_expect_eq(slot->counters[DLPROF_CLASS_READ].count, 3);
}

/* The top frame belongs to an inner call that was left by longjmp(). */
Test(quick, what_was_left_inside_by_a_jump_is_taken_away)
{
	struct {
		char below[64];
		struct quick quick;
	} stack;
	struct span *left = (struct span *)(uintptr_t)stack.below;
	int fd = open_data();

	for (int i = 0; i < 3; i++)
		read_of(fd, 1, 0);
	cr_assert(quick_begin(&stack.quick, activate_on(), fd));
	span_push(left, thread_get(), clock_counter());
	cr_expect_eq(quick_end(&stack.quick, 5, "test"), 5);
	cr_expect_eq(thread_depth(thread_get()), 0);
	cr_expect_eq(counter(DLPROF_CLASS_READ)->count, 4);
	cr_expect_eq(counter(DLPROF_CLASS_READ)->bytes, 8);
}

static void push(struct span *spans, uint32_t depth)
{
	for (uint32_t i = 0; i < depth; i++)
		span_push(&spans[depth - 1 - i], thread_get(), clock_counter());
}

Test(quick, needs_no_room_unless_it_is_rare)
{
	struct {
		struct quick quick;
		struct span spans[THREAD_FRAME_MAX];
	} stack;
	int fd = open_data();

	for (int i = 0; i < 3; i++)
		read_of(fd, 1, 0);
	push(stack.spans, THREAD_FRAME_MAX);
	for (int i = 0; i < 2; i++) {
		cr_assert(quick_begin(&stack.quick, activate_on(), fd));
		cr_expect_eq(quick_end(&stack.quick, i ? -1 : 1, "test"), i ? -1 : 1);
	}
	cr_expect_eq(thread_depth(thread_get()), THREAD_FRAME_MAX);
	cr_expect_eq(counter(DLPROF_CLASS_READ)->count, 4);
}

/* Does as a child that a signal handler forked within the call, and that records afterwards. */
static void begin_another_life(void)
{
	thread_begin_life();
	on = thread_life;
	cr_assert_eq(segment_open(folder, 0, -1, -1), 0);
}

Test(quick, a_call_of_another_life_counts_nowhere)
{
	int fd = open_data();

	for (int again = 0; again < 2; again++) {
		struct quick quick;

		for (int i = 0; i < 3; i++)
			read_of(fd, 1, 0);
		cr_assert(quick_begin(&quick, activate_on(), fd));
		begin_another_life();
		if (again)
			cr_assert_neq(thread_get(), NULL);
		cr_expect_eq(quick_end(&quick, 7, "test"), 7);
		cr_expect_eq(counter(DLPROF_CLASS_READ)->count, 0);
		cr_expect_eq(counter(DLPROF_CLASS_READ)->bytes, 0);
		cr_expect_eq(thread_depth(thread_get()), 0);
	}
}

Test(quick, nor_does_a_call_that_was_not_quick)
{
	struct span span;

	begin(&span, DLPROF_CLASS_READ);
	begin_another_life();
	span_end(&span, 7, false);
	cr_expect_eq(counter(DLPROF_CLASS_READ)->count, 0);
}
