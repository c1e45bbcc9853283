/* SPDX-License-Identifier: Apache-2.0 */
#include "python/pipes.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/sys.h"
#include "batch/consumer.h"
#include "batch/scope.h"
#include "python/feed.h"
#include "record/activate.h"
#include "record/run.h"
#include "record/thread.h"

/* DataLoader's MP_STATUS_CHECK_INTERVAL, of which getting a lock first takes a part. */
#define TIMEOUT_MS    5000
#define SHORTER_MS    1000
#define YIELD_MAX     100
#define NAP_MAX       100 /* of sys_pause(), where the holder lost its core */
#define TASKS_NAP_MAX 100
#define TASKS_NAP_NS  100000
/* A worker is sent no more than its prefetch_factor of tasks before a result of it arrives. */
#define EARLY_MAX 16

volatile uint32_t pipes_watch;

/* Weak, as in audit.c: there if this process is a Python, of any version. */
extern int Py_IsInitialized(void) __attribute__((weak));

static _Atomic uint32_t holder; /* pid, so that no fork leaves it taken; 0: nobody */

static struct {
	uint32_t pid;
	uint64_t polled, polled_ns; /* the last poll, and since when it is of that pipe */
	/* Of a worker. */
	uint64_t index; /* the pipe that its tasks come by; 0: it is none */
	uint64_t result;
	int32_t worker;
	bool has_task, loading;
	uint32_t task;
	uint32_t generation;
	struct scope_load load;
	struct dlprof_event early[EARLY_MAX]; /* loads that ended before their stream was known */
	uint32_t early_count;
} pipes;

void pipes_install(void)
{
	if (Py_IsInitialized)
		pipes_watch = 1;
}

/* Held for some hundred instructions; what finds it taken is a thread that is about to wait anyway.
 */
static bool lock(void)
{
	uint32_t pid = (uint32_t)sys_getpid(), before;

	for (int i = 0;; i++) {
		before = holder;
		if (before != pid && atomic_compare_exchange_strong(&holder, &before, pid))
			break;
		if (i == YIELD_MAX + NAP_MAX)
			return false;
		sys_pause(i, YIELD_MAX);
	}
	if (unlikely(pipes.pid != pid)) { /* first use, or a forked child */
		memset(&pipes, 0, sizeof(pipes));
		pipes.pid = pid;
		feed_reset();
	}
	return true;
}

static void unlock(void)
{
	atomic_store(&holder, 0);
}

/* 0: not a pipe. */
static uint64_t pipe_of(int fd)
{
	struct stat status;

	if (sys_call2(SYS_fstat, fd, &status) < 0 || !S_ISFIFO(status.st_mode))
		return 0;
	return (uint64_t)status.st_ino;
}

void pipes_finish(void)
{
	if (!pipes_watch || !activate_on() || pipes.pid != (uint32_t)sys_getpid() || !lock())
		return;
	feed_end_epochs();
	unlock();
}

/* The worker's load is over when it comes back for its next task. */
static void end_load(void)
{
	struct thread *thread = pipes.loading && activate_on() ? thread_get() : NULL;
	struct dlprof_event event;

	if (thread) {
		thread->worker = pipes.worker;
		thread->stream = pipes.result;
		thread->generation = pipes.generation;
		thread->task = pipes.task;
		if (scope_load_event(thread, &pipes.load, 0, false, &event)) {
			if (pipes.result)
				thread_push(thread, &event);
			else if (pipes.early_count < EARLY_MAX)
				pipes.early[pipes.early_count++] = event;
		}
		thread->stream = 0;
	}
	pipes.loading = false;
}

/* A worker joins the run of the process that asks it, and never begins one of its own. */
static void begin_load(uint64_t pipe, uint32_t number)
{
	struct thread *thread;

	if (pipes.index != pipe || !pipes.has_task) {
		pipes.index = pipe;
		pipes.worker = (int32_t)number;
		pipes.generation = 0;
	} else if (number <= pipes.task) {
		pipes.generation++;
	}
	pipes.has_task = true;
	pipes.task = number;
	if (!activate_on() && (!run_find_parent() || !consumer_record()))
		return;
	thread = thread_get();
	if (!thread)
		return;
	if (pipes.loading)
		scope_load_cancel(thread, &pipes.load);
	scope_load_begin(thread, &pipes.load);
	pipes.loading = true;
}

/*
 * In a worker: the feeder thread writes what was loaded. It starts with the first batch, and on a
 * busy machine its first write may come loads later.
 */
static void wrote_result(uint64_t pipe)
{
	struct thread *thread;

	pipes.result = pipe;
	if (!pipes.early_count || !activate_on())
		return;
	thread = thread_get();
	for (uint32_t i = 0; thread && i < pipes.early_count; i++) {
		pipes.early[i].stream = pipe;
		thread_push(thread, &pipes.early[i]);
	}
	pipes.early_count = 0;
}

/* Begins to record, which takes milliseconds, without the lock. False: did not get it back. */
static bool begin_unlocked(void)
{
	if (activate_on())
		return true;
	unlock();
	consumer_record();
	return lock();
}

/*
 * The Python's other threads run while this one is in its read. At most TASKS_NAP_MAX naps, and if
 * in vain never again in this process. NULL: did not get the lock back, or the feed is gone.
 */
static struct feed *wait_for_tasks(struct feed *feed)
{
	const uint64_t result = feed->result;

	for (int i = 0; i < TASKS_NAP_MAX && feed && feed_needs_tasks(feed); i++) {
		unlock();
		sys_nap(TASKS_NAP_NS);
		if (!lock())
			return NULL;
		feed = feed_of_result(result);
	}
	if (feed && feed_needs_tasks(feed))
		feed_has_late_tasks();
	if (!feed)
		unlock();
	return feed;
}

void pipes_poll(void *pollfd, int timeout_ms)
{
	const struct timespec at_once = {0, 0};
	struct feed *feed;
	uint64_t pipe;

	/* A poll of our own first, which finds a bad address without touching it. */
	if (timeout_ms <= 0 || timeout_ms > TIMEOUT_MS ||
	    sys_call4(SYS_ppoll, pollfd, 1, &at_once, NULL) < 0 ||
	    !(((const struct pollfd *)pollfd)->events & POLLIN))
		return;
	pipe = pipe_of(((const struct pollfd *)pollfd)->fd);
	if (!pipe || !lock())
		return;
	if (pipes.index) {
		if (pipes.index == pipe)
			end_load();
		pipes.polled = pipe;
		unlock();
		return;
	}
	feed = feed_of_result(pipe);
	if (!feed && timeout_ms >= TIMEOUT_MS - SHORTER_MS) {
		/* Perhaps its results, perhaps the pipe that tells of a worker's end. */
		if (pipes.polled != pipe)
			pipes.polled_ns = clock_now_ns();
		pipes.polled = pipe;
		if (feed_fresh() && !begin_unlocked())
			return;
	} else if (feed && activate_on()) {
		feed_ask(feed, clock_now_ns());
	}
	unlock();
}

/* What the kernel reads for us may be a bad address: the write fails then, and must not kill. */
static long copy(uint8_t *to, const void *from, size_t size)
{
	const struct iovec local = {to, size}, remote = {(void *)(uintptr_t)from, size};

	return sys_call6(SYS_process_vm_readv, sys_getpid(), (long)&local, 1, (long)&remote, 1, 0);
}

bool pipes_write(int fd, const void *buffer, size_t size, bool is_readable)
{
	uint8_t copied[PIPES_LOOK_MAX];
	const uint8_t *bytes = buffer;
	enum pipes_message message;
	uint32_t number;
	uint64_t pipe;
	long r;

	if (size < 4)
		return true;
	pipe = pipe_of(fd);
	if (!pipe)
		return true;
	if (size > PIPES_LOOK_MAX)
		size = PIPES_LOOK_MAX;
	if (!is_readable) {
		r = copy(copied, buffer, size);
		if (r < 0)
			return r == -EFAULT;
		size = (size_t)r;
		bytes = copied;
	}
	if (size >= 8 && bytes[0] != 0x80) { /* behind the length, unless that went out alone */
		bytes += 4;
		size -= 4;
	}
	if (size < 4 || bytes[0] != 0x80)
		return true;
	message = pipes_parse(bytes, size, &number);
	if (message == PIPES_OTHER || !lock())
		return true;
	if (pipes.index && message != PIPES_NONE)
		wrote_result(pipe);
	else if (message == PIPES_INDEX)
		feed_sent(pipe, number);
	else if (message == PIPES_NONE)
		feed_told_to_end(pipe);
	unlock();
	return true;
}

void pipes_read(int fd, const void *buffer, ssize_t count, size_t size)
{
	enum pipes_message message = PIPES_OTHER;
	struct feed *feed;
	uint32_t number = 0;
	uint64_t pipe;

	if (count <= 0 || (((const uint8_t *)buffer)[0] != 0x80 && !feed_partial()))
		return;
	pipe = pipe_of(fd);
	if (!pipe || !lock())
		return;
	feed = feed_of_result(pipe);
	if (!feed || !feed->left_bytes)
		message = pipes_parse(buffer, (size_t)count, &number);
	if (!feed && message >= PIPES_NUMBER && pipes.polled == pipe && !pipes.index) {
		if (feed_fresh() && !begin_unlocked())
			return;
		feed = feed_fresh();
		if (feed && number < feed->sent && activate_on()) {
			feed->result = pipe;
			feed_ask(feed, pipes.polled_ns);
			pipes.polled = 0;
		} else {
			feed = NULL;
		}
	}
	if (feed && feed->left_bytes) {
		feed_goes_on(feed, (size_t)count);
	} else if (feed && message >= PIPES_NUMBER) {
		feed = wait_for_tasks(feed);
		if (!feed)
			return;
		feed_begins(feed, number, message == PIPES_PASSED ? FEED_PASSED : FEED_BATCH,
			    (size_t)count, size);
	} else if (feed) {
		feed_answered(feed);
	} else if (!feed_any() && message == PIPES_INDEX && pipes.polled == pipe) {
		begin_load(pipe, number);
	}
	unlock();
}
