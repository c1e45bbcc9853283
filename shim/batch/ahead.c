/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/ahead.h"

#include <time.h>

#include "base/clock.h"
#include "base/note.h"
#include "base/sys.h"
#include "base/text.h"
#include "record/segment.h"
#include "record/summary.h"

#define AHEAD_MAX   16
#define KEPT_MAX    128
#define WATCHED_MIN 8 /* batches, before a thread is warned of */
#define WORKS_LEAST 20 /* 1/20 of the waits, in which the main thread works; of all, for steps */

static struct ahead {
	const void *outer; /* only to be compared; NULL: free */
	const char *kind;
	int32_t pid;
	int32_t tid; /* of the thread that asks; 0: it has ended */
	uint64_t begun_ns;
	bool asked;
	uint64_t stream; /* whose batches are kept; 0: the next one's */
	struct dlprof_event kept[KEPT_MAX];
	uint64_t kept_count, told_count;
	uint64_t kept_batches;
	uint64_t dropped_batches;   /* that followed, with no room for them */
	struct dlprof_event last;   /* batch handed on; stream 0: none in this epoch */
} aheads[AHEAD_MAX];

static bool named;          /* the user's loader was asked */
static uint32_t here_count; /* threads that ask */

void ahead_enter(const void *outer, const char *kind)
{
	struct ahead *ahead = NULL;

	for (size_t i = 0; i < AHEAD_MAX; i++) {
		struct ahead *one = &aheads[i];

		if (one->outer == outer) {
			ahead = one;
			break;
		}
		if (!one->tid && (!ahead || one->begun_ns < ahead->begun_ns))
			ahead = one;
	}
	if (!ahead)
		return;
	here_count += !ahead->tid;
	ahead->outer = outer;
	ahead->kind = kind;
	ahead->pid = sys_getpid();
	ahead->tid = sys_gettid();
	ahead->begun_ns = clock_now_ns();
	ahead->asked = false;
	ahead->stream = ahead->last.stream = 0;
	ahead->kept_count = ahead->told_count = 0;
	ahead->kept_batches = ahead->dropped_batches = 0;
}

static struct ahead *of_thread(int32_t tid)
{
	for (size_t i = 0; i < AHEAD_MAX; i++)
		if (aheads[i].tid == tid)
			return &aheads[i];
	return NULL;
}

void ahead_leave(void)
{
	struct ahead *ahead = of_thread(sys_gettid());

	if (!ahead)
		return;
	ahead->tid = 0;
	here_count--;
}

bool ahead_is_here(void)
{
	return unlikely(here_count) && of_thread(sys_gettid());
}

void ahead_named(void)
{
	named = true;
}

static bool is_main(const struct thread *thread)
{
	return thread->tid == (uint32_t)segment_first()->header.pid;
}

static bool keep(struct ahead *ahead, const struct dlprof_event *event)
{
	struct dlprof_event *kept = &ahead->kept[ahead->kept_count % KEPT_MAX];
	const bool is_batch = event->kind == DLPROF_EVENT_BATCH;
	const bool is_epoch = event->kind == DLPROF_EVENT_EPOCH;
	struct text kind;

	ahead->asked |= !is_epoch;
	/* Of two loaders that it asks in turn, only one counts the batches. */
	if (is_batch && !ahead->stream)
		ahead->stream = event->stream;
	if (ahead->stream != event->stream && (ahead->stream || !is_epoch))
		return !is_epoch;
	if (event->kind == DLPROF_EVENT_STOP)
		ahead->stream = 0;
	if (ahead->dropped_batches || ahead->kept_count - ahead->told_count == KEPT_MAX) {
		ahead->dropped_batches += is_batch;
		return true;
	}
	*kept = *event;
	ahead->kept_count++;
	ahead->kept_batches += is_batch;
	if (!is_epoch)
		return true;
	text_init(&kind, kept->epoch.kind, sizeof(kept->epoch.kind));
	text_add(&kind, ahead->kind);
	if (!kept->epoch.workers)
		kept->epoch.workers = 1;
	return true;
}

bool ahead_take(const struct thread *thread, const struct dlprof_event *event)
{
	struct ahead *ahead = unlikely(here_count) ? of_thread((int32_t)thread->tid) : NULL;

	return unlikely(ahead) && keep(ahead, event);
}

bool ahead_may_be_users(const struct thread *thread)
{
	return unlikely(named) && thread->wait_depth == 1 && !is_main(thread) && !ahead_is_here();
}

struct ahead *ahead_of(const void *outer)
{
	for (size_t i = 0; i < AHEAD_MAX; i++)
		if (aheads[i].outer == outer && aheads[i].asked && aheads[i].pid == sys_getpid())
			return &aheads[i];
	return NULL;
}

/* It ran so far ahead that there was no room, or ended before its inner loader did. */
static bool make_up(struct ahead *ahead, uint16_t kind)
{
	if (!ahead->last.stream)
		return false;
	ahead->last.kind = kind;
	if (kind == DLPROF_EVENT_BATCH) {
		ahead->dropped_batches--;
		ahead->last.task++;
		ahead->last.batch.ordinal++;
		ahead->last.batch.arrived = false;
	}
	return true;
}

bool ahead_next(struct ahead *ahead, enum ahead_answer answer, struct dlprof_event *ret_event,
		bool *ret_waits)
{
	const uint16_t kind = answer == AHEAD_BATCH ? DLPROF_EVENT_BATCH : DLPROF_EVENT_STOP;

	/* It makes several batches of one, and the training waited for the first. */
	if (answer == AHEAD_BATCH && !ahead->kept_batches && !ahead->dropped_batches)
		return false;
	/* Batches that it has not handed on by its end are dropped. */
	do {
		if (ahead->told_count == ahead->kept_count) {
			if (!make_up(ahead, kind))
				return false;
			*ret_event = ahead->last;
		} else {
			*ret_event = ahead->kept[ahead->told_count++ % KEPT_MAX];
			ahead->kept_batches -= ret_event->kind == DLPROF_EVENT_BATCH;
		}
		if (ret_event->kind != DLPROF_EVENT_EPOCH)
			ahead->last = *ret_event;
	} while (ret_event->kind == DLPROF_EVENT_BATCH && kind == DLPROF_EVENT_STOP);
	*ret_waits = ret_event->kind == kind;
	if (ret_event->kind == DLPROF_EVENT_STOP)
		ahead->last.stream = 0;
	if (*ret_waits && answer == AHEAD_FAILED)
		ret_event->flags |= DLPROF_FLAG_FAILED;
	return true;
}

/* CPU time of the main thread; 0: it has ended. */
static uint64_t main_cpu_ns(void)
{
	struct timespec time = {0, 0};

	/* The kernel's number of a thread's clock: its scheduler's (2), for one thread (4). */
	sys_call2(SYS_clock_gettime, (int)(~(uint32_t)sys_getpid() << 3 | 4 | 2), &time);
	return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

static bool noted; /* a thread that only prefetches */

static bool is_watched(const struct thread *thread)
{
	return unlikely(!is_main(thread)) && !noted && !named && !ahead_is_here();
}

void ahead_watch_begin(struct thread *thread)
{
	if (!is_watched(thread))
		return;
	if (thread->ahead.count)
		thread->ahead.own_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - thread->ahead.exit_ns;
	thread->ahead.waited_ns -= clock_now_ns();
	thread->ahead.within_ns -= main_cpu_ns();
}

/*
 * A thread that only prefetches does almost nothing with its batches, and the main thread works
 * while this one waits. If it waits for this one, as an event loop does, the waits are its own.
 * A training whose host does not work is somewhere else, too, where this thread asks for the next
 * batch at once: no step takes place between its waits.
 */
static bool is_prefetching(const struct thread *thread)
{
	const uint64_t all_ns = clock_now_ns() - thread->ahead.since_ns;

	if (thread->ahead.count <= WATCHED_MIN)
		return false;
	if (all_ns - thread->ahead.waited_ns < all_ns / WORKS_LEAST)
		return true;
	return main_cpu_ns() > thread->ahead.main_ns + thread->ahead.own_ns &&
	       thread->ahead.within_ns > thread->ahead.waited_ns / WORKS_LEAST;
}

void ahead_watch_end(struct thread *thread)
{
	if (!is_watched(thread))
		return;
	thread->ahead.waited_ns += clock_now_ns();
	thread->ahead.within_ns += main_cpu_ns();
	if (!thread->ahead.count++) {
		thread->ahead.main_ns = main_cpu_ns();
		thread->ahead.since_ns = clock_now_ns();
		thread->ahead.waited_ns = thread->ahead.within_ns = 0;
	}
	if (is_prefetching(thread)) {
		noted = true;
		summary_doubt();
		note_add('?',
			     "a thread other than the main one takes batches from a DataLoader "
			     "while the main one works: if it prefetches for the training, these "
			     "are its waits and not the training's; name what the training asks "
			     "by DLPROF_BATCH_FN=module:Class.method");
	}
	thread->ahead.exit_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}
