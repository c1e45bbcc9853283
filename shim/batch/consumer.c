/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/consumer.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/sys.h"
#include "base/text.h"
#include "python/identity.h"
#include "record/activate.h"
#include "record/launches.h"
#include "record/run.h"
#include "record/start.h"
#include "record/summary.h"

#define NAP_NS	   1000000
#define NAP_MAX	   200

static struct api_name iterator_name = {"_dlprof_iterator", NULL};

static _Atomic uint32_t stream_count;

/*
 * Not in vain while another thread is at it, in milliseconds and once: a loader that does not get
 * to record now is not seen for an epoch, nor are the workers that it forks.
 */
bool consumer_record(void)
{
	static _Atomic uint32_t nap_count; /* of all threads of the process together */

	if (activate_on())
		return true;
	while (!start_recording()) {
		if (!start_is_busy() || nap_count++ >= NAP_MAX)
			return false;
		sys_nap(NAP_NS);
		if (activate_on())
			return true;
	}
	return true;
}

struct consumer *consumer_of(PyObject *iterator)
{
	return api_memory(iterator, &iterator_name, sizeof(struct consumer), false);
}

void consumer_skip(PyObject *iterator, bool skips)
{
	struct consumer *consumer =
		api_memory(iterator, &iterator_name, sizeof(*consumer), skips);

	if (consumer)
		consumer->skipping = skips;
}

/* Unique in the run: the pid tells processes apart, the count what one process makes. */
static uint64_t local_stream(void)
{
	return DLPROF_STREAM_LOCAL | (uint64_t)sys_getpid() << 32 |
	       atomic_fetch_add(&stream_count, 1);
}

/* In another wait, or in a load: also of a worker, whatever it iterates over. */
static bool is_nested(const struct thread *thread)
{
	return thread->wait_depth || thread->load_depth || thread->worker >= 0;
}

static uint16_t flags_of(const struct consumer *consumer, bool nested)
{
	return (nested ? DLPROF_FLAG_NESTED : 0) | (consumer->pool ? DLPROF_FLAG_POOL : 0);
}

void consumer_announce(const struct consumer *consumer, const struct consumer_facts *facts,
		       uint64_t begin_ns)
{
	const char *ahead = identity_ahead(consumer);
	struct thread *thread = thread_get();
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_EPOCH,
		.worker = -1,
		.begin_ns = begin_ns,
		.stream = consumer->stream,
		.generation = consumer->generation,
		.epoch = {
			.loader = consumer->loader,
			.epoch = consumer->epoch,
			.workers = ahead && !facts->workers ? 1 : facts->workers,
			.prefetch_factor = facts->prefetch_factor,
			.batch_size = facts->batch_size,
			.flags = facts->flags,
		},
	};
	struct text kind;

	text_init(&kind, event.epoch.kind, sizeof(event.epoch.kind));
	text_add(&kind, ahead ? ahead : facts->kind);
	if (!thread)
		return;
	event.flags = flags_of(consumer, is_nested(thread));
	event.epoch.waited_ns = thread->waited_ns;
	if (thread->iter_ns) {
		event.begin_ns = thread->iter_begin_ns;
		event.duration_ns = thread->iter_ns;
		if (!(event.flags & DLPROF_FLAG_NESTED))
			event.epoch.waited_ns -= thread->iter_ns;
		thread->iter_ns = 0;
	}
	thread_push(thread, &event);
}

void consumer_begin(struct consumer *consumer, const struct consumer_facts *facts,
		    uint64_t begin_ns)
{
	if (consumer->stream)
		consumer->generation++;
	else
		consumer->stream = facts->stream ? facts->stream : local_stream();
	consumer->workers = facts->workers < 0 ? CONSUMER_WORKERS_UNKNOWN : facts->workers;
	consumer->in_order = facts->flags & DLPROF_EPOCH_IN_ORDER;
	consumer->receive_ns = facts->opaque ? UINT64_MAX : 0;
	consumer->ordinal = 0;
	consumer->exit_ns = 0;
	consumer->over = false;
	consumer_announce(consumer, facts, begin_ns);
}

void consumer_abandon(struct consumer *consumer)
{
	if (consumer->stream && !consumer->over)
		identity_epoch_ended(consumer);
	consumer->over = true;
}

void consumer_start(struct consumer *consumer, const struct consumer_facts *facts,
		    uint64_t begin_ns)
{
	identity_number(consumer, NULL, NULL, facts);
	consumer_begin(consumer, facts, begin_ns);
}

static void announce_place(const struct consumer *consumer, const char *place)
{
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_PLACE,
		.worker = -1,
		.task = consumer->loader,
	};
	struct thread *thread = place ? thread_get() : NULL;
	struct text text;

	if (!thread)
		return;
	text_init(&text, event.mark, sizeof(event.mark));
	text_add(&text, place);
	thread_push(thread, &event);
}

struct consumer *consumer_epoch(PyObject *iterator, PyObject *loader,
				const struct consumer_facts *facts, uint64_t begin_ns)
{
	struct consumer *consumer = api_memory(iterator, &iterator_name, sizeof(*consumer), true);

	if (!consumer)
		return NULL;
	identity_number(consumer, loader, iterator, facts);
	consumer_begin(consumer, facts, begin_ns);
	announce_place(consumer, identity_place(loader));
	return consumer;
}

static struct account *account_of(struct thread *thread, bool pool)
{
	if (pool)
		return summary_pool();
	if (unlikely(!thread->account))
		thread->account = summary_account();
	return thread->account;
}

static void enter(struct consumer_wait *wait, struct thread *thread, bool pool, uint64_t begin_ns)
{
	wait->thread = thread;
	wait->life = thread_life;
	wait->nested = is_nested(thread);
	wait->account = wait->nested ? NULL : account_of(thread, pool);
	wait->begin_ns = begin_ns ? begin_ns : clock_now_ns();
	summary_wait_begin(wait->account, wait->begin_ns);
	thread->wait_depth++;
}

/*
 * A dataset may iterate over a loader of its own: only the outermost wait is the thread's. Of a
 * wait that another thread began, and did not end, its state is that one's own affair, and so is
 * its ring. False: it is of that kind.
 */
static bool leave(struct consumer_wait *wait, uint64_t end_ns)
{
	struct thread *thread = wait->thread;

	if (thread_get() != thread)
		return false;
	if (--thread->wait_depth == 0)
		thread->waited_ns += end_ns - wait->begin_ns;
	if (wait->account)
		wait->account->waited_ns += end_ns - wait->begin_ns;
	return true;
}

bool consumer_iter_begin(struct consumer_wait *wait, uint64_t begin_ns)
{
	struct thread *thread = activate_on() ? thread_get() : NULL;

	if (thread)
		enter(wait, thread, false, begin_ns);
	return thread;
}

void consumer_iter_end(struct consumer_wait *wait)
{
	const uint64_t end_ns = clock_now_ns();
	struct thread *thread = wait->thread;

	if (!thread_is_in_life(wait->life) || !leave(wait, end_ns))
		return;
	/* One within another is a part of it. */
	if (thread->wait_depth)
		return;
	if (!thread->iter_ns)
		thread->iter_begin_ns = wait->begin_ns;
	thread->iter_ns += end_ns - wait->begin_ns;
}

bool consumer_wait_begin_at(struct consumer *consumer, struct consumer_wait *wait,
			    uint64_t begin_ns)
{
	struct thread *thread = thread_get();

	if (!thread)
		return false;
	launches_new_step(thread);
	wait->stream = thread->stream;
	wait->generation = thread->generation;
	wait->task = thread->task;
	wait->waited_ns = thread->waited_ns;
	/* Without workers the fetch happens in here, on this thread. */
	thread->stream = consumer->workers == 0 ? consumer->stream : 0;
	thread->generation = consumer->generation;
	thread->task = (uint32_t)consumer->ordinal;
	if (consumer->receive_ns != UINT64_MAX)
		consumer->receive_ns = 0;
	enter(wait, thread, consumer->pool, begin_ns);
	return true;
}

bool consumer_wait_begin(struct consumer *consumer, struct consumer_wait *wait)
{
	return consumer_wait_begin_at(consumer, wait, 0);
}

/* The thread whose ring to take; NULL: none. */
static struct thread *finish(struct consumer_wait *wait, uint64_t end_ns)
{
	struct thread *thread = thread_is_in_life(wait->life) ? thread_get() : NULL;

	if (!thread || !leave(wait, end_ns))
		return thread;
	thread->stream = wait->stream;
	thread->generation = wait->generation;
	thread->task = wait->task;
	thread->wait_count++;
	return thread;
}

void consumer_wait_end(struct consumer *consumer, struct consumer_wait *wait, uint32_t task)
{
	uint64_t end_ns = clock_now_ns();
	struct thread *thread;
	uint32_t at = task % CONSUMER_ARRIVAL_MAX;
	bool arrived = consumer->arrivals[at].ns && consumer->arrivals[at].task == task &&
		       consumer->arrivals[at].generation == consumer->generation;
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_BATCH,
		.flags = flags_of(consumer, wait->nested),
		.worker = -1,
		.begin_ns = wait->begin_ns,
		.duration_ns = end_ns - wait->begin_ns,
		.stream = consumer->stream,
		.generation = consumer->generation,
		.task = task,
		.batch = {
			.ordinal = consumer->ordinal,
			.ask_ns = arrived ? consumer->arrivals[at].ask_ns : 0,
			.arrive_ns = arrived ? consumer->arrivals[at].ns : 0,
			.receive_ns = consumer->receive_ns,
			.waited_ns = wait->waited_ns,
			.arrived = arrived,
		},
	};

	thread = finish(wait, end_ns);
	if (!thread)
		return;
	thread_push(thread, &event);
	if (!wait->nested)
		summary_batch(wait->account, end_ns);
	run_watch(end_ns);
	consumer->ordinal++;
	consumer->exit_ns = end_ns;
}

void consumer_wait_stop(struct consumer *consumer, struct consumer_wait *wait, bool failed)
{
	uint64_t end_ns = clock_now_ns();
	struct thread *thread;
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_STOP,
		.flags = flags_of(consumer, wait->nested) | (failed ? DLPROF_FLAG_FAILED : 0),
		.worker = -1,
		.begin_ns = wait->begin_ns,
		.duration_ns = end_ns - wait->begin_ns,
		.stream = consumer->stream,
		.generation = consumer->generation,
		.batch = {.waited_ns = wait->waited_ns},
	};

	thread = finish(wait, end_ns);
	if (!thread)
		return;
	thread_push(thread, &event);
	if (!failed && !consumer->over)
		identity_epoch_ended(consumer);
	consumer->exit_ns = 0;
	consumer->over = !failed;
}

void consumer_stop_at(const struct consumer *consumer, uint64_t now_ns)
{
	struct thread *thread = thread_get();
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_STOP,
		.worker = -1,
		.begin_ns = now_ns,
		.stream = consumer->stream,
		.generation = consumer->generation,
	};

	if (!thread)
		return;
	event.batch.waited_ns = thread->waited_ns;
	thread_push(thread, &event);
}

void consumer_wait_cancel(struct consumer_wait *wait)
{
	finish(wait, clock_now_ns());
}

void consumer_receive_begin(struct consumer_receive *receive, struct thread *thread)
{
	receive->thread = thread;
	receive->life = thread_life;
	receive->ask_ns = clock_now_ns();
	thread->receiving = true;
	thread->receive_begin_ns = 0;
}

void consumer_receive_end(struct consumer *consumer, struct consumer_receive *receive, int64_t task)
{
	struct thread *thread = receive->thread;
	uint64_t now_ns = clock_now_ns();
	uint32_t at = (uint32_t)task % CONSUMER_ARRIVAL_MAX;

	if (!thread_is_in_life(receive->life))
		return;
	thread->receiving = false;
	if (thread->receive_begin_ns)
		consumer->receive_ns += now_ns - thread->receive_begin_ns;
	if (task < 0 || task > UINT32_MAX)
		return;
	consumer->last_task = (uint32_t)task;
	consumer->arrivals[at].ask_ns = receive->ask_ns;
	consumer->arrivals[at].ns = now_ns;
	consumer->arrivals[at].task = (uint32_t)task;
	consumer->arrivals[at].generation = consumer->generation;
}
