/* SPDX-License-Identifier: Apache-2.0 */
/* Tests spans on a real segment: their own time, frames that longjmp() skips, full rings. */
#include <criterion/criterion.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/config.h"
#include "record/activate.h"
#include "record/segment.h"
#include "record/span.h"
#include "record/thread.h"

static const volatile uint32_t on = 1;
static const volatile uint32_t off;
static char folder[] = "/tmp/dlprof-span-XXXXXX";

static void set_up(void)
{
	cr_assert(mkdtemp(folder));
	thread_life = 1;
	cr_assert_eq(segment_open(folder, 0, -1, -1), 0);
	activate_cell = &on;
	config.detail = CONFIG_DETAIL_BATCHES;
}

static void tear_down(void)
{
	char command[80];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	cr_assert_eq(system(command), 0);
}

TestSuite(span, .init = set_up, .fini = tear_down);

static void begin(struct span *span, enum dlprof_class class)
{
	memset(span, 0, sizeof(*span));
	span->fd = -1;
	span->name = "test";
	cr_assert(span_begin(span, class));
}

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static const struct dlprof_counter *counter(enum dlprof_class class)
{
	return &thread_get()->slot->counters[class];
}

__attribute__((noinline)) static void read_for(long ms, uint64_t bytes)
{
	struct span span;

	begin(&span, DLPROF_CLASS_READ);
	sleep_ms(ms);
	span_end(&span, bytes, false);
}

Test(span, a_nanosecond_has_one_class)
{
	uint64_t begin_ns, all_ns;
	struct span decode;

	begin_ns = clock_now_ns();
	begin(&decode, DLPROF_CLASS_DECODE);
	read_for(30, 100);
	sleep_ms(5);
	span_end(&decode, 0, false);
	all_ns = clock_now_ns() - begin_ns;
	cr_expect_eq(counter(DLPROF_CLASS_READ)->count, 1);
	cr_expect_eq(counter(DLPROF_CLASS_READ)->bytes, 100);
	cr_expect_geq(counter(DLPROF_CLASS_READ)->ns, 30000000);
	cr_expect_eq(counter(DLPROF_CLASS_DECODE)->count, 1);
	cr_expect_geq(counter(DLPROF_CLASS_DECODE)->ns, 5000000);
	/* If decoding included the read's 30 ms the sum would exceed the whole time. */
	cr_expect_leq(counter(DLPROF_CLASS_DECODE)->ns + counter(DLPROF_CLASS_READ)->ns, all_ns);
}

Test(span, counts_failures)
{
	struct span span;

	begin(&span, DLPROF_CLASS_OPEN);
	span_end(&span, 0, true);
	cr_expect_eq(counter(DLPROF_CLASS_OPEN)->failed_count, 1);
}

static jmp_buf back;

__attribute__((noinline)) static void decode_and_jump(void)
{
	struct span span;

	begin(&span, DLPROF_CLASS_DECODE);
	longjmp(back, 1);
}

Test(span, longjmp_leaves_no_frame_behind)
{
	struct span above;

	for (volatile int i = 0; i < 100; i++)
		if (!setjmp(back))
			decode_and_jump();
	cr_expect_eq(thread_depth(thread_get()), 1);
	read_for(0, 7);		/* counts even if its frame lies below the one that was left */
	cr_expect_eq(counter(DLPROF_CLASS_READ)->count, 1);
	cr_expect_eq(counter(DLPROF_CLASS_DECODE)->count, 0);
	begin(&above, DLPROF_CLASS_OPEN);
	span_end(&above, 0, false);
	cr_expect_eq(thread_depth(thread_get()), 0);
}

Test(span, longjmp_out_of_an_inner_call_keeps_the_outer)
{
	struct span outer;

	begin(&outer, DLPROF_CLASS_OPEN);
	if (!setjmp(back))
		decode_and_jump();
	span_end(&outer, 0, false);
	cr_expect_eq(counter(DLPROF_CLASS_OPEN)->count, 1);
	cr_expect_eq(thread_depth(thread_get()), 0);
}

__attribute__((noinline)) static void nest(int levels)
{
	struct span span = {.fd = -1, .name = "nest"};
	bool recorded = span_begin(&span, DLPROF_CLASS_READ);

	if (levels > 1)
		nest(levels - 1);
	if (recorded)
		span_end(&span, 1, false);
}

Test(span, deeper_nesting_than_there_is_room_for_is_let_through)
{
	nest(3 * THREAD_FRAME_MAX);
	cr_expect_eq(counter(DLPROF_CLASS_READ)->count, THREAD_FRAME_MAX);
	cr_expect_eq(thread_depth(thread_get()), 0);
}

Test(span, slow_calls_become_records)
{
	const struct dlprof_slot *slot = thread_get()->slot;

	config.detail = CONFIG_DETAIL_SLOW;
	config.slow_ns = 10000000000;
	read_for(0, 1);
	cr_expect_eq(slot->head, 0);
	config.slow_ns = 10000000;
	read_for(15, 1);
	cr_assert_eq(slot->head, 1);
	cr_expect_eq(slot->near[0].kind, DLPROF_EVENT_OP);
	cr_expect_str_eq(slot->near[0].op.name, "test");
}

Test(span, a_full_ring_drops_and_counts)
{
	const struct dlprof_slot *slot = thread_get()->slot;

	config.detail = CONFIG_DETAIL_ALL;
	for (int i = 0; i < DLPROF_RING_CAPACITY + 10; i++)
		read_for(0, 1);
	cr_expect_eq(slot->head, DLPROF_RING_CAPACITY);
	cr_expect_eq(slot->lost_count, 10);
	cr_expect_eq(counter(DLPROF_CLASS_READ)->count, DLPROF_RING_CAPACITY + 10);
}

Test(span, nothing_is_written_once_the_cell_is_wiped)
{
	const struct dlprof_slot *slot = thread_get()->slot;
	struct span span;

	config.detail = CONFIG_DETAIL_ALL;
	begin(&span, DLPROF_CLASS_READ);
	activate_cell = &off;	/* as the kernel does in a forked child */
	span_end(&span, 1, false);
	cr_expect_eq(slot->head, 0);
	cr_expect_eq(slot->counters[DLPROF_CLASS_READ].count, 0);
}
