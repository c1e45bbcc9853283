/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ring.c - compares a slot's small ring and its large one with a model: whatever the producer
 * and the drain do in turns, and if they die, each record is read at its place or counted as lost.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/activate.h"
#include "record/segment.h"
#include "record/thread.h"

#define STEPS	  20000
#define PUSH_MOST 3000000

static char home[] = "/tmp/test-of-dlprof-XXXXXX";

static void open_of_shim(void)
{
	cr_assert_eq(segment_open(home, 0, -1, -1), 0);
}

/* Called while a segment is added. */
static void (*volatile while_growing)(void);
int real_backing_make(const char *path, struct dlprof_segment **ret) __asm__("__real_backing_make");
int slow_backing_make(const char *path, struct dlprof_segment **ret) __asm__("__wrap_backing_make");

int slow_backing_make(const char *path, struct dlprof_segment **ret)
{
	if (while_growing)
		while_growing();
	return real_backing_make(path, ret);
}

/* The drain has functions with the names of the shim's, which are renamed here. */
#define segment_open	    drain_segment_open
#define segment_close	    drain_segment_close
#define segment_poll	    drain_segment_poll
#define segment_refresh	    drain_segment_refresh
#define segment_read	    drain_segment_read
#define segment_publish	    drain_segment_publish
#define segment_is_empty    drain_segment_is_empty
#define segment_beat	    drain_segment_beat
#include "drain/segments/alive.c"
#include "drain/segments/segment.c"

/* The model: what the slot must contain. */
static struct {
	uint32_t numbers[PUSH_MOST]; /* each position's record */
	uint64_t head, tail, lost;
	bool far;
	uint32_t pushed;
} model;

static struct segment *reader;
static struct thread *thread;
static const volatile uint32_t on = 1;

static struct dlprof_slot *slot_of_thread(void)
{
	return thread->slot;
}

static void open_reader(void)
{
	DIR *list = opendir(home);
	struct dirent *entry;

	segment_close(reader);
	reader = NULL;
	while (list && !reader && (entry = readdir(list)))
		if (strstr(entry->d_name, DLPROF_SEGMENT_SUFFIX))
			segment_open(dirfd(list), entry->d_name, &reader);
	closedir(list);
	cr_assert(reader);
}

static void set_up(void)
{
	strcpy(strrchr(home, '-'), "-XXXXXX");
	cr_assert(mkdtemp(home));
	activate_cell = &on;
	thread_begin_life();
	open_of_shim();
	thread = thread_get();
	cr_assert(thread);
	memset(&model, 0, sizeof(model));
	open_reader();
}

static void tear_down(void)
{
	char command[80];

	segment_close(reader);
	reader = NULL;
	snprintf(command, sizeof(command), "rm -r '%s'", home);
	cr_assert_eq(system(command), 0);
}

TestSuite(ring, .init = set_up, .fini = tear_down);

static void push(void)
{
	struct dlprof_event event = {.kind = DLPROF_EVENT_OP, .task = ++model.pushed};
	uint64_t held = model.head - model.tail;

	thread_push(thread, &event);
	if (!model.far && held == DLPROF_NEAR_CAPACITY)
		model.far = true;
	if (held < DLPROF_RING_CAPACITY)
		model.numbers[model.head++] = model.pushed;
	else
		model.lost++;
	cr_assert_eq(slot_of_thread()->head, model.head);
	cr_assert_eq(slot_of_thread()->lost_count, model.lost);
}

static int take(void *context, const struct record *record)
{
	const uint64_t position = record->position;
	const struct dlprof_event *event = record->event;

	if (!model.pushed)	/* nothing was written, whatever the slot says */
		return 0;
	cr_assert_lt(position, model.head);
	cr_assert_eq(event->task, model.numbers[position], "record %llu is %u, not %u",
		     (unsigned long long)position, event->task, model.numbers[position]);
	return 0;
}

static void read_all(void)
{
	size_t taken = 0;

	cr_assert_eq(segment_read(reader, take, NULL, &taken), 0);
	cr_assert_eq(reader->rings[0].read, model.head);
	cr_assert_eq(reader->rings[0].lost_count, model.lost);
}

/* Lets the producer overwrite the records that were read, except a random number of them. */
static void publish(unsigned int chance)
{
	struct ring *ring = &reader->rings[0];

	ring->release = ring->read - chance % (ring->read - ring->published + 1);
	cr_assert_eq(segment_publish(reader, false), 0);
	model.tail = ring->release;
}

/* Gives the slot to a new thread. killed: the one before died just when it began the far ring.
 */
static void hand_over(bool killed)
{
	if (killed && !model.far && model.head - model.tail == DLPROF_NEAR_CAPACITY) {
		cr_assert_eq(segment_reserve(thread->slot, SEGMENT_FAR), 0);
		slot_of_thread()->far_from = model.head;
		model.far = true;
	}
	thread_reset(thread, thread->slot, thread->tid);
}

Test(ring, every_record_is_read_where_it_was_written)
{
	unsigned int seed = 20261122, far_runs = 0, killed_runs = 0;

	for (int run = 0; run < 60; run++) {
		unsigned int most = run % 3 ? 40 + (unsigned int)run : 700;
		bool killed = run % 2;

		tear_down();
		set_up();
		for (int step = 0; step < STEPS / 60; step++) {
			unsigned int chance = (unsigned int)rand_r(&seed);

			for (unsigned int i = chance % most; i > 0; i--) {
				push();
				if (killed && !model.far &&
				    model.head - model.tail == DLPROF_NEAR_CAPACITY) {
					hand_over(true);
					killed_runs++;
				}
			}
			if (chance >> 8 & 1)
				read_all();
			if (chance >> 9 & 1)
				publish(chance >> 12);
			if ((chance >> 10) % 16 == 0)
				open_reader();
			if ((chance >> 25) % 16 == 0)
				hand_over(false);
		}
		read_all();
		far_runs += model.far;
	}
	cr_expect_gt(far_runs, 20);
	cr_expect_gt(killed_runs, 5);
	cr_expect_lt(far_runs, 60, "a drain that keeps up needs no far ring");
}

Test(ring, a_drain_that_keeps_up_needs_no_more_blocks)
{
	struct stat before, after;

	cr_assert_eq(fstat(reader->fd, &before), 0);
	for (int i = 0; i < 10000; i++) {
		push();
		if (i % 200 == 0) {
			read_all();
			publish(0);
		}
	}
	cr_assert_eq(fstat(reader->fd, &after), 0);
	cr_expect_eq(after.st_blocks, before.st_blocks);
	cr_expect_leq(after.st_blocks * 512, 96 * 1024);
	cr_expect_eq(slot_of_thread()->far_from, 0);
}

Test(ring, any_far_from_is_survived)
{
	const uint64_t heads[] = {0, 1, 255, 256, 300, 2048, 5000, UINT64_MAX - 100};
	const uint64_t places[] = {0, 1, 2, 255, 256, 299, 2047, 5000, UINT64_MAX / 2, UINT64_MAX};
	const size_t count = sizeof(heads) / sizeof(heads[0]);
	struct dlprof_slot *slot = slot_of_thread();

	cr_assert_eq(segment_reserve(slot, SEGMENT_FAR), 0);
	for (size_t i = 0; i < count * count * sizeof(places) / sizeof(places[0]); i++) {
		size_t taken = 0;

		slot->head = heads[i % count];
		slot->tail = heads[i / count % count];
		slot->far_from = places[i / count / count];
		open_reader();
		reader->rings[0].lost_count = 0;
		cr_assert_eq(segment_read(reader, take, NULL, &taken), 0);
		cr_assert_leq(taken, slot->far_from ? DLPROF_RING_CAPACITY : DLPROF_NEAR_CAPACITY);
		cr_assert_eq(segment_publish(reader, false), 0);
	}
}

/* Between two reads the drain only compares the heads, to see whether a ring fills. */
Test(ring, a_glance_sees_that_it_fills)
{
	push();
	cr_expect(segment_is_filling(reader), "a thread that was never read");
	read_all();
	cr_expect_not(segment_is_filling(reader));
	for (int i = 0; i < DLPROF_NEAR_CAPACITY / 4; i++)
		push();
	cr_expect_not(segment_is_filling(reader), "what a steady training writes");
	push();
	cr_expect(segment_is_filling(reader));
	read_all();
	cr_expect_not(segment_is_filling(reader));
	reader->dead = true;
	push();
	cr_expect_not(segment_is_filling(reader), "its last look comes anyway");
}

#define BURST 90
static pthread_barrier_t start;
static _Atomic uint32_t served;

static void grow_slowly(void)
{
	usleep(5000);
}

static void *claim_with_all(void *unused)
{
	pthread_barrier_wait(&start);
	served += thread_get() != NULL;
	/* No thread may end before all have a slot, since another would get its slot. */
	pthread_barrier_wait(&start);
	return unused;
}

static void run_threads(uint32_t count, void *(*run)(void *))
{
	pthread_t threads[BURST];

	for (uint32_t i = 0; i < count; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, run, NULL), 0);
	for (uint32_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

Test(ring, threads_that_start_at_once_all_get_slots)
{
	struct segment_claim next = {0};

	while_growing = grow_slowly;
	pthread_barrier_init(&start, NULL, BURST);
	run_threads(BURST, claim_with_all);
	cr_expect_eq(served, BURST);
	cr_expect_eq(segment_first()->header.lost_count, 0);
	/* No segment was added while another one had room. */
	cr_assert(segment_claim(&next));
	cr_expect_eq(next.segment, (1 + BURST) / DLPROF_SLOT_COUNT);
	cr_expect_eq(next.place, (1 + BURST) % DLPROF_SLOT_COUNT);
}

static atomic_bool is_growing, may_end;

/* As a signal handler that interrupts the adding of a segment and needs a slot; it then waits. */
static void grow_interrupted(void)
{
	const uint64_t begin_ns = clock_now_ns();

	cr_expect_null(thread_get());
	cr_expect_lt(clock_now_ns() - begin_ns, UINT64_C(50000000), "a thread waits for itself");
	is_growing = true;
	while (!may_end)
		usleep(1000);
}

static void *claim_alone(void *unused)
{
	served += thread_get() != NULL;
	return unused;
}

static void *wait_in_vain(void *unused)
{
	uint64_t begin_ns;

	while (!is_growing)
		usleep(1000);
	begin_ns = clock_now_ns();
	cr_expect_null(thread_get());
	cr_expect_gt(clock_now_ns() - begin_ns, UINT64_C(50000000), "nobody waits");
	begin_ns = clock_now_ns();
	for (int i = 0; i < 50; i++)
		cr_expect_null(thread_get());
	cr_expect_lt(clock_now_ns() - begin_ns, UINT64_C(2000000000), "each call waits anew");
	may_end = true;
	for (int i = 0; i < 5000 && !thread_get(); i++)
		usleep(1000);
	cr_expect(thread_get(), "no slot after all");
	return unused;
}

Test(ring, a_growth_that_stops_stops_nobody)
{
	pthread_t waiter, grower;

	run_threads(DLPROF_SLOT_COUNT - 1, claim_alone);
	cr_assert_eq(served, DLPROF_SLOT_COUNT - 1);
	while_growing = grow_interrupted;
	pthread_create(&waiter, NULL, wait_in_vain, NULL);
	pthread_create(&grower, NULL, claim_alone, NULL);
	pthread_join(waiter, NULL);
	pthread_join(grower, NULL);
	cr_expect_eq(served, DLPROF_SLOT_COUNT);
}
