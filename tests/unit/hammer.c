/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hammer.c - tests the rings and the table of descriptors with a thread for each slot of a segment.
 *
 * Not a Criterion test: it is built with ThreadSanitizer too, which does not live with Criterion's
 * processes. Each part checks what it wrote; the sanitizers check how. TEST_KILLS: how many
 * processes are killed, 200 if not set.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hammer.h"
#include "record/activate.h"
#include "record/fd.h"
#include "record/segment.h"
#include "record/thread.h"

#define THREAD_COUNT 8
#define RECORD_COUNT 20000
#define ROUNDS 5000
#define KILL_COUNT 200
#define KILL_US_MAX 300

static const volatile uint32_t on = 1;
static atomic_bool done;

void hammer_demand(bool fine, const char *what)
{
	if (fine)
		return;
	fprintf(stderr, "not so: %s\n", what);
	abort();
}

/* Returns record `number` of a thread, from which all its fields follow. */
static struct dlprof_event record(uint32_t tid, uint32_t number)
{
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_OP, .task = number, .stream = tid, .begin_ns = number,
	};

	memset(event.op.path, 'a' + (int)(number % 26), sizeof(event.op.path));
	return event;
}

void hammer_check(const struct dlprof_event *event, uint32_t tid, uint32_t *next)
{
	struct dlprof_event wanted = record(tid, event->task);

	hammer_demand(event->task >= *next, "records come in their order");
	hammer_demand(memcmp(event, &wanted, sizeof(wanted)) == 0, "a record is whole");
	*next = event->task + 1;
}

static void *produce(void *argument)
{
	struct thread *thread = thread_get();
	uint64_t *pushed = argument;

	hammer_demand(thread, "a slot for the thread");
	for (uint32_t i = 0; i < RECORD_COUNT; i++) {
		struct dlprof_event event = record(thread->tid, i);

		thread_push(thread, &event);
		thread->slot->counters[DLPROF_CLASS_READ].count++;
		if (i % 512 == 0)
			sched_yield();	/* the reader keeps up now and then */
	}
	*pushed = thread->slot->counters[DLPROF_CLASS_READ].count;
	return NULL;
}

/*
 * Reads a slot as the drain does, but in this process, where ThreadSanitizer sees both sides. Reads
 * the slot's owner after its head, since a slot without records may have no owner yet.
 */
static uint64_t consume(struct dlprof_slot *slot, const _Atomic uint32_t *owner, uint32_t *next)
{
	uint64_t head = atomic_load_explicit(&slot->head, memory_order_acquire);
	uint32_t tid = atomic_load_explicit(owner, memory_order_relaxed);
	uint64_t far_from = atomic_load_explicit(&slot->far_from, memory_order_relaxed);
	uint64_t tail = atomic_load_explicit(&slot->tail, memory_order_relaxed);
	uint64_t first = tail;

	hammer_demand(head - tail <= DLPROF_RING_CAPACITY, "a ring holds no more than it can");
	for (; tail < head; tail++)
		if (far_from && tail >= far_from)
			hammer_check(&slot->far[tail % DLPROF_RING_CAPACITY], tid, next);
		else
			hammer_check(&slot->near[tail % DLPROF_NEAR_CAPACITY], tid, next);
	atomic_store_explicit(&slot->tail, head, memory_order_release);
	return head - first;
}

static void *read_rings(void *argument)
{
	struct dlprof_segment *segment = segment_first();
	uint32_t next[DLPROF_SLOT_COUNT] = {0};
	uint64_t *taken = argument;
	bool last;

	do {
		last = atomic_load(&done);
		for (int i = 0; i < DLPROF_SLOT_COUNT; i++)
			*taken += consume(&segment->slots[i], &segment->header.tids[i],
					  &next[i]);
	} while (!last);
	return NULL;
}

static char folder[] = "/tmp/test-of-dlprof-XXXXXX";

static void *read_as_drain(void *argument)
{
	*(uint64_t *)argument = hammer_drain(folder, &done);
	return NULL;
}

static void hammer_rings(void *(*read)(void *argument))
{
	pthread_t threads[DLPROF_SLOT_COUNT], reader;
	uint64_t pushed[DLPROF_SLOT_COUNT] = {0}, taken = 0, lost = 0, sum = 0;

	/* The threads get rings in a new segment. */
	thread_begin_life();
	hammer_demand(segment_open(folder, 0, -1, -1) == 0, "a segment");
	atomic_store(&done, false);
	pthread_create(&reader, NULL, read, &taken);
	for (int i = 0; i < DLPROF_SLOT_COUNT; i++)
		pthread_create(&threads[i], NULL, produce, &pushed[i]);
	for (int i = 0; i < DLPROF_SLOT_COUNT; i++)
		pthread_join(threads[i], NULL);
	atomic_store(&done, true);
	pthread_join(reader, NULL);
	for (int i = 0; i < DLPROF_SLOT_COUNT; i++) {
		lost += segment_first()->slots[i].lost_count;
		sum += pushed[i];
	}
	printf("%llu records, %llu taken, %llu lost\n", (unsigned long long)sum,
	       (unsigned long long)taken, (unsigned long long)lost);
	hammer_demand(sum == (uint64_t)DLPROF_SLOT_COUNT * RECORD_COUNT, "counters are exact");
	hammer_demand(taken + lost == sum, "every record was taken or counted as lost");
}

/* Records until the process is killed. *told, which the parent shares: number of records. */
static void produce_until_killed(struct thread *thread, _Atomic uint32_t *told)
{
	for (uint32_t i = 0;; i++) {
		struct dlprof_event event = record(thread->tid, i);

		thread_push(thread, &event);
		atomic_store(told, i + 1);
	}
}

/* Kills processes at any moment: all their records are whole, except the one being written. */
static void hammer_kill(void)
{
	_Atomic uint32_t *told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int count = getenv("TEST_KILLS") ? atoi(getenv("TEST_KILLS")) : KILL_COUNT;
	unsigned int seed = 20261121;
	_Atomic uint32_t tid;
	struct thread *thread;
	uint64_t sum = 0;

	thread_begin_life();
	hammer_demand(told != MAP_FAILED && segment_open(folder, 0, -1, -1) == 0, "a segment");
	thread = thread_get();
	hammer_demand(thread, "a slot for the victims, one after another");
	tid = thread->tid;
	for (int i = 0; i < count; i++) {
		uint64_t found = 0, lost = thread->slot->lost_count;
		uint32_t next = 0;
		int status;
		pid_t pid;

		atomic_store(told, 0);
		/* As when a thread gets the slot of a thread that has ended. */
		thread_reset(thread, thread->slot, thread->tid);
		pid = fork();
		if (pid == 0)
			produce_until_killed(thread, told);
		hammer_demand(pid > 0, "a process to kill");
		while (!atomic_load(told))
			sched_yield();
		usleep(rand_r(&seed) % KILL_US_MAX);
		kill(pid, SIGKILL);
		hammer_demand(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status), "it is dead");
		found = consume(thread->slot, &tid, &next) + thread->slot->lost_count - lost;
		hammer_demand(found == *told || found == *told + 1, "a killed process's records");
		sum += found;
	}
	printf("%d killed, %llu records\n", count, (unsigned long long)sum);
}

/* All threads use the same few descriptors, at both sides of a boundary of the table's pages. */
static void *use_table(void *argument)
{
	unsigned int seed = (unsigned int)(uintptr_t)argument;

	for (int i = 0; i < ROUNDS; i++) {
		int fd = 4090 + (int)(rand_r(&seed) % 12);
		char path[FD_PATH_BYTES];

		memset(path, 'a' + i % 26, sizeof(path));
		path[100 + i % 50] = '\0';
		fd_remember(fd, i % 3 ? FD_OTHER : FD_NAMED, path);
		hammer_demand((unsigned int)fd_known(fd) <= FD_OTHER, "a kind is a kind");
		fd_path(fd, path);
		hammer_demand(strspn(path, (char[2]){path[0]}) == strlen(path), "a path is whole");
		fd_copy(fd, fd + 5000);
		fd_forget(fd);
		if (i % 100 == 0)
			fd_forget_range(4000, ~0U);
		hammer_demand(fd_kind(fd + 100000) == FD_OTHER, "nothing is open there");
	}
	return NULL;
}

static void hammer_table(void)
{
	pthread_t threads[THREAD_COUNT];

	for (uintptr_t i = 0; i < THREAD_COUNT; i++)
		pthread_create(&threads[i], NULL, use_table, (void *)(i + 1));
	for (int i = 0; i < THREAD_COUNT; i++)
		pthread_join(threads[i], NULL);
	fd_forget_range(0, ~0U);
	for (int fd = 4000; fd < 10000; fd++)
		hammer_demand(fd_known(fd) == FD_UNKNOWN, "all is forgotten");
}

static void empty_folder(void)
{
	char command[80];

	snprintf(command, sizeof(command), "rm -f '%s'/*", folder);
	hammer_demand(system(command) == 0, "the folder is emptied");
}

int main(void)
{
	hammer_demand(mkdtemp(folder), "a folder");
	activate_cell = &on;
	hammer_rings(read_rings);
	empty_folder();
	hammer_rings(read_as_drain);
	empty_folder();
	hammer_kill();
	hammer_table();
	empty_folder();
	return rmdir(folder) ? 1 : 0;
}
