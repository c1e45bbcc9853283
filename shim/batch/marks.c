/* SPDX-License-Identifier: Apache-2.0 */
/*
 * marks.c - the functions of dlprof.h, by which a training loop says where batches begin and end.
 */
#define DLPROF_SHIM
#include "batch/marks.h"
#include "dlprof.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/note.h"
#include "base/table.h"
#include "base/text.h"
#include "batch/consumer.h"
#include "batch/scope.h"
#include "record/activate.h"
#include "record/run.h"
#include "record/segment.h"
#include "record/summary.h"

#define LANE_MAX 256

/* Each load that is under way takes a lane, and each lane is shown as a worker. */
struct lane {
	/* thread_life in the upper half, the owner's tid in the lower half; 0: free */
	_Atomic uint64_t owner;
	/* set after `owner`; once the thread has ended, another thread may get its struct */
	const struct thread *_Atomic thread;
	_Atomic uint32_t tid;
	int64_t batch;
	struct scope_load load;
	/* the thread's values, restored after the load: the thread may be a loader's worker */
	int32_t worker;
	struct thread_load outer;
};

TABLE(struct lane, lanes, LANE_MAX)
static struct lane inline_lane; /* for loads within waits of the training thread */

static struct {
	_Atomic uint32_t busy; /* thread_life while a thread is in a function of dlprof.h; else 0 */
	_Atomic uint64_t stream;
	_Atomic uint32_t generation;
	_Atomic int32_t workers;     /* number of concurrent loads; -1: no load was seen */
	_Atomic uint32_t life;       /* thread_life when the members above were set */
	/* The members below are used only by the thread that is in the loop. */
	struct consumer consumer;
	struct consumer_wait wait;
	const struct thread *waiting;
	bool begun;
	int32_t announced;
	bool batches;        /* the loop marks batches, so steps are ignored */
	bool own_steps;      /* dlprof_step() was called, so other sources are ignored */
	const char *source;  /* source of this epoch's steps: "nvtx"; NULL: dlprof.h */
	bool zero_seen;
	uint32_t next;
	uint64_t step_ns; /* end of the last step; 0: none */
} loop = {.workers = -1};

#define NAP_NS  1000000
#define NAP_MAX 1000

/* Naps. Returns false after too many naps in vain, after which a process naps no more. */
static bool wait_a_moment(uint32_t pid, int *nap_count)
{
	/* pid of the process that waited in vain; a forked child may wait again */
	static _Atomic uint32_t in_vain;

	if (++*nap_count > NAP_MAX)
		in_vain = pid;
	if (in_vain == pid)
		return false;
	sys_nap(NAP_NS);
	return true;
}

/* Waits while another thread makes the first mark. Otherwise this thread's mark would be lost. */
static RARELY struct thread *enter_first(void)
{
	static _Atomic uint32_t holder;
	const uint32_t pid = (uint32_t)sys_getpid();
	struct thread *thread = NULL;
	int nap_count = 0;
	uint32_t before;
	bool ours;

	do {
		before = holder;
		ours = before != pid && atomic_compare_exchange_strong(&holder, &before, pid);
	} while (!ours && wait_a_moment(pid, &nap_count));
	if (consumer_record())
		thread = thread_get();
	if (ours)
		holder = 0;
	return thread;
}

struct thread *marks_enter(void)
{
	struct thread *thread = activate_on() ? thread_known() : NULL;

	return likely(thread) ? thread : enter_first();
}

static uint64_t own_stream(void)
{
	return DLPROF_STREAM_MARKS | segment_stream();
}

static struct thread *enter_loop(struct thread *thread)
{
	uint32_t before = thread ? atomic_load(&loop.busy) : 0;

	/* After a fork within the loop, `busy` still has the parent's thread_life. */
	if (!thread || before == thread_life ||
	    !atomic_compare_exchange_strong(&loop.busy, &before, thread_life))
		return NULL;
	if (unlikely(loop.life != thread_life)) {
		/* A child that trains starts a loop of its own. */
		memset(&loop.consumer, 0, sizeof(loop.consumer));
		loop.waiting = NULL;
		loop.begun = loop.batches = loop.own_steps = loop.zero_seen = false;
		loop.next = 0;
		loop.step_ns = 0;
		if (loop.stream != own_stream()) {
			loop.stream = own_stream();
			loop.generation = 0;
			loop.workers = -1;
		}
		loop.life = thread_life;
	}
	return thread;
}

static void leave_loop(void)
{
	atomic_store(&loop.busy, 0);
}

static void begin_epoch(uint64_t now_ns)
{
	const int32_t workers = loop.workers;
	struct consumer_facts facts = {
		.kind = loop.source ? loop.source : "marks",
		.stream = loop.stream,
		.workers = workers,
		CONSUMER_OPAQUE,
	};

	if (!loop.begun) {
		loop.consumer.loader = loop.source ? DLPROF_LOADER_RANGES : 0;
		loop.consumer.epoch = loop.generation;
		consumer_begin(&loop.consumer, &facts, now_ns);
		loop.begun = true;
		loop.zero_seen = false;
		loop.next = 0;
	} else if (workers != loop.announced) {
		consumer_announce(&loop.consumer, &facts, now_ns);
	}
	loop.announced = workers;
	if (workers >= 0) /* 0: this thread loads within its waits */
		loop.consumer.workers = workers;
}

static void end_epoch(void)
{
	if (!loop.begun)
		return;
	loop.begun = false;
	loop.step_ns = 0;
	loop.generation = loop.consumer.generation + 1;
}

void dlprof_batch_begin(void)
{
	struct thread *thread = enter_loop(marks_enter());

	if (!thread)
		return;
	if (loop.waiting)
		consumer_wait_stop(&loop.consumer, &loop.wait, true);
	loop.waiting = NULL;
	if (!loop.batches)
		end_epoch(); /* the epoch had steps instead of batches */
	loop.batches = true;
	loop.source = NULL;
	begin_epoch(clock_now_ns());
	if (consumer_wait_begin(&loop.consumer, &loop.wait, 0))
		loop.waiting = thread;
	leave_loop();
}

static uint32_t number_of(int64_t batch)
{
	if (batch < 0 || batch > UINT32_MAX)
		return loop.next;
	if (batch == 0 && loop.zero_seen)
		note_once('w', "dlprof_batch_end() was given batch 0 twice without DLPROF_END in "
			       "between: batches with one number count once");
	loop.zero_seen |= batch == 0;
	return (uint32_t)batch;
}

void dlprof_batch_end(int64_t batch)
{
	struct thread *thread = enter_loop(marks_enter());
	uint32_t task;

	if (!thread)
		return;
	if (loop.waiting != thread) {
		leave_loop();
		return;
	}
	loop.waiting = NULL;
	if (batch == DLPROF_END) {
		consumer_wait_stop(&loop.consumer, &loop.wait, false);
		end_epoch();
	} else {
		task = number_of(batch);
		consumer_wait_end(&loop.consumer, &loop.wait, task);
		loop.next = task + 1;
	}
	leave_loop();
}

static void take_step(struct thread *thread, uint64_t now_ns, const char *who)
{
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_BATCH,
		.flags = DLPROF_FLAG_STEP,
		.worker = -1,
	};

	loop.source = who;
	begin_epoch(now_ns);
	if (loop.step_ns) {
		event.begin_ns = loop.step_ns;
		event.duration_ns = now_ns - loop.step_ns;
		event.stream = loop.consumer.stream;
		event.generation = loop.consumer.generation;
		event.task = loop.next++;
		event.batch.ordinal = event.task;
		thread_push(thread, &event);
		summary_count();
		run_watch(now_ns);
	}
	loop.step_ns = now_ns;
}

void dlprof_step(void)
{
	struct thread *thread = enter_loop(marks_enter());

	if (!thread)
		return;
	if (!loop.batches) {
		if (!loop.own_steps)
			end_epoch(); /* the epoch had another source of steps */
		loop.own_steps = true;
		take_step(thread, clock_now_ns(), NULL);
	}
	leave_loop();
}

bool marks_step(const char *who, bool first, uint64_t now_ns)
{
	struct thread *thread = consumer_any() ? NULL : enter_loop(marks_enter());
	bool ours = !loop.begun || (loop.source && strcmp(loop.source, who) == 0);

	if (!thread)
		return false;
	ours = ours && !loop.batches && !loop.own_steps;
	if (ours) {
		if (first) {
			end_epoch();
			loop.step_ns = now_ns;
		} else {
			take_step(thread, now_ns, who);
		}
	}
	leave_loop();
	return ours;
}

static uint64_t as_owner(const struct thread *thread)
{
	return (uint64_t)thread_life << 32 | thread->tid;
}

/* Returns true if `thread` owns the lane. Frees the lane if its owner has ended. */
static bool settle_lane(struct lane *lane, const struct thread *thread)
{
	uint64_t owner = lane->owner;

	if (owner == as_owner(thread))
		return true;
	/* The owner ended, and this thread has its struct. A new owner may not have set tid yet. */
	if (unlikely(lane->thread == thread && owner && lane->tid == (uint32_t)owner))
		atomic_compare_exchange_strong(&lane->owner, &owner, 0);
	return false;
}

static struct lane *lane_of(const struct thread *thread)
{
	struct lane *lane = lanes();

	if (settle_lane(&inline_lane, thread))
		return &inline_lane;
	for (int i = 0; lane && i < LANE_MAX && (lane->thread || lane->owner); i++, lane++)
		if (settle_lane(lane, thread))
			return lane;
	return NULL;
}

/* Makes `thread` the lane's owner. Returns false if the lane has an owner in this life. */
static bool take_lane(struct lane *lane, const struct thread *thread)
{
	uint64_t owner = lane->owner;

	if (owner >> 32 == thread_life ||
	    !atomic_compare_exchange_strong(&lane->owner, &owner, as_owner(thread)))
		return false;
	lane->thread = thread;
	lane->tid = thread->tid;
	return true;
}

static struct lane *find_lane(const struct thread *thread)
{
	struct lane *all = lanes();

	if (loop.waiting == thread)
		return take_lane(&inline_lane, thread) ? &inline_lane : NULL;
	for (int i = 0; all && i < LANE_MAX && (all[i].thread || all[i].owner); i++)
		if (all[i].thread == thread && take_lane(&all[i], thread))
			return &all[i];
	for (int i = 0; all && i < LANE_MAX; i++)
		if (take_lane(&all[i], thread))
			return &all[i];
	return NULL;
}

/* Notes how many loads run at once: 0 if the training thread makes all loads in its waits. */
static void count_workers(const struct lane *lane)
{
	int32_t count = lane == &inline_lane ? 0 : (int32_t)(lane - lanes()) + 1;
	int32_t known = loop.workers;

	while (known < count && !atomic_compare_exchange_weak(&loop.workers, &known, count))
		continue;
}

static void leave_lane(struct thread *thread, struct lane *lane)
{
	thread->worker = lane->worker;
	thread->load = lane->outer;
	atomic_store(&lane->owner, 0);
}

void dlprof_load_begin(int64_t batch)
{
	struct thread *thread = marks_enter();
	uint64_t none = 0;
	struct lane *lane;

	if (!thread)
		return;
	lane = lane_of(thread);
	if (lane) {
		scope_load_cancel(thread, &lane->load);
		leave_lane(thread, lane);
	}
	lane = find_lane(thread);
	if (!lane)
		return;
	/* A forked child loads batches for its parent, so it keeps the stream of its parent. */
	atomic_compare_exchange_strong(&loop.stream, &none, own_stream());
	lane->batch = batch;
	lane->worker = thread->worker;
	lane->outer = thread->load;
	thread->load = (struct thread_load){loop.stream, loop.generation,
					    batch < 0 ? 0 : (uint32_t)batch};
	if (loop.stream == own_stream()) {
		thread->worker = lane == &inline_lane ? -1 : (int32_t)(lane - lanes());
		count_workers(lane);
	}
	scope_load_begin(thread, &lane->load);
}

void dlprof_load_end(int64_t batch)
{
	struct thread *thread = activate_on() ? thread_get() : NULL;
	struct lane *lane = thread ? lane_of(thread) : NULL;

	if (!lane)
		return;
	if (batch == DLPROF_NEXT)
		batch = lane->batch;
	if (batch >= 0 && batch <= UINT32_MAX) {
		thread->load.task = (uint32_t)batch;
		scope_load_end(thread, &lane->load, 0, false);
	} else {
		scope_load_cancel(thread, &lane->load);
	}
	leave_lane(thread, lane);
}

void dlprof_mark(const char *text)
{
	struct thread *thread = text ? marks_enter() : NULL;
	struct dlprof_event event = {.kind = DLPROF_EVENT_MARK, .worker = -1};

	if (!thread)
		return;
	event.begin_ns = clock_now_ns();
	label_copy(event.mark, text);
	thread_push(thread, &event);
}
