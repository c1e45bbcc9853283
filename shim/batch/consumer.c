/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/consumer.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/sys.h"
#include "base/text.h"
#include "batch/freeing.h"
#include "batch/pinning.h"
#include "batch/stage.h"
#include "batch/training.h"
#include "record/activate.h"
#include "record/launches.h"
#include "record/polls.h"
#include "record/run.h"
#include "record/segment.h"
#include "record/start.h"
#include "record/summary.h"

#define NAP_NS	   1000000
#define NAP_MAX	   200

static _Atomic uint32_t stream_count;
static _Atomic uint32_t followed_pid;
static void (*epoch_ended)(const struct consumer *consumer);

void consumer_ready(void (*ended)(const struct consumer *consumer))
{
	epoch_ended = ended;
}

bool consumer_any(void)
{
	return followed_pid == (uint32_t)sys_getpid();
}

/* Starts recording. If another thread is doing so, waits: no epoch or worker must be missed. */
bool consumer_record(void)
{
	static _Atomic uint32_t nap_count;

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

/* Returns a new number for a stream, unique in the run because it contains this life's number. */
static uint64_t local_stream(void)
{
	return DLPROF_STREAM_LOCAL | (segment_stream() + atomic_fetch_add(&stream_count, 1));
}

static bool is_nested(const struct thread *thread)
{
	return thread->wait_depth || thread->load_depth || thread->worker >= 0;
}

bool consumer_is_inside(void)
{
	const struct thread *thread = activate_on() ? thread_known() : NULL;

	return thread && is_nested(thread);
}

static uint16_t flags_of(const struct consumer *consumer, bool nested)
{
	return (nested ? DLPROF_FLAG_NESTED : 0) | (consumer->pool ? DLPROF_FLAG_POOL : 0);
}

static uint64_t take_free_ns(struct thread *thread)
{
	const uint64_t ns = thread->free_ns;

	thread->free_ns = 0;
	return ns;
}

/* Writes a record. Returns false if ahead.h holds the record back. */
static bool push(struct thread *thread, const struct dlprof_event *event)
{
	if (unlikely(thread->ahead.asker)) {
		if (ahead_keep(thread, event))
			return false;
		if (ahead_is_own(thread))
			consumer_push_own(thread);
	}
	thread_push(thread, event);
	return true;
}

static uint32_t sample_us_of(const struct thread *thread)
{
	const uint64_t us = thread->iter_sample_ns / 1000;

	return us < DLPROF_EPOCH_SAMPLE_US ? (uint32_t)us : DLPROF_EPOCH_SAMPLE_US;
}

void consumer_announce(struct consumer *consumer, const struct consumer_facts *facts,
		       uint64_t begin_ns)
{
	struct thread *thread = thread_get();
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_EPOCH,
		.worker = -1,
		.begin_ns = begin_ns,
		.stream = consumer->stream,
		.generation = consumer->generation,
		.task = facts->first_task,
		.epoch = {
			.loader = consumer->loader,
			.epoch = consumer->epoch,
			.workers = facts->workers,
			.prefetch_factor = facts->prefetch_factor,
			.batch_size = facts->batch_size < INT32_MAX ? (int32_t)facts->batch_size
								    : INT32_MAX,
			.flags = facts->flags,
		},
	};

	text_copy(event.epoch.kind, sizeof(event.epoch.kind), facts->kind);
	consumer->maker = thread ? thread->ahead.asker : 0;
	consumer->is_ahead = facts->flags & AHEAD_EPOCH_AGAIN;
	if (!thread)
		return;
	event.flags = flags_of(consumer, is_nested(thread));
	event.epoch.sample_us = UINT32_MAX;
	if (facts->sees_samples)
		event.epoch.sample_us = sample_us_of(thread);
	event.epoch.waited_ns = thread->waited_ns;
	event.epoch.free_ns = take_free_ns(thread);
	if (thread->iter_ns) {
		event.begin_ns = thread->iter_begin_ns;
		event.duration_ns = thread->iter_ns;
		if (!(event.flags & DLPROF_FLAG_NESTED))
			event.epoch.waited_ns -= thread->iter_ns;
		thread->iter_ns = thread->iter_sample_ns = 0;
	}
	if (thread->failed_ns && !(event.flags & DLPROF_FLAG_NESTED)) {
		event.begin_ns = thread->failed_begin_ns;
		event.duration_ns += thread->failed_ns;
		event.epoch.waited_ns -= thread->failed_ns;
		thread->failed_ns = 0;
	}
	push(thread, &event);
}

void consumer_begin(struct consumer *consumer, const struct consumer_facts *facts,
		    uint64_t begin_ns)
{
	if (consumer->stream) {
		consumer->generation++;
	} else {
		consumer->stream = facts->stream ? facts->stream : local_stream();
		consumer->generation = facts->generation;
	}
	if (!(consumer->stream & DLPROF_STREAM_MARKS))
		followed_pid = (uint32_t)sys_getpid();
	consumer->workers = facts->workers < 0 ? CONSUMER_WORKERS_UNKNOWN : facts->workers;
	consumer->in_order = facts->flags & DLPROF_EPOCH_IN_ORDER;
	consumer->receive_ns = facts->opaque ? UINT64_MAX : 0;
	consumer->is_staged = stage_is_kind(facts->kind);
	consumer->sees_samples = facts->sees_samples;
	consumer->sees_fetches = facts->sees_fetches;
	consumer->ordinal = consumer->skip_left = consumer->skip_count = 0;
	consumer->asker = 0;
	consumer->pool = summary_has_pool();
	consumer->over = false;
	consumer_announce(consumer, facts, begin_ns);
}

void consumer_abandon(struct consumer *consumer)
{
	if (consumer->stream && !consumer->over)
		epoch_ended(consumer);
	consumer->over = true;
}

void consumer_place(const struct consumer *consumer, const char *place)
{
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_PLACE,
		.worker = -1,
		.task = consumer->loader,
	};
	struct thread *thread = place ? thread_get() : NULL;

	if (!thread)
		return;
	text_copy(event.mark, sizeof(event.mark), place);
	thread_push(thread, &event);
}

static struct account *account_of(struct thread *thread)
{
	if (unlikely(!thread->account || summary_has_pool()))
		thread->account = summary_account();
	return thread->account;
}

/* Notes which thread asks the iterator. Threads that ask it in turn are a pool. */
static void look_at_asker(struct consumer *consumer, const struct thread *thread)
{
	if (likely(consumer->asker == thread->tid) || !consumer->stream || thread->ahead.asker)
		return;
	if (consumer->asker && !consumer->pool && !is_nested(thread)) {
		summary_pool(consumer->account);
		consumer->pool = true;
	}
	consumer->asker = thread->tid;
}

static RARELY void take_epoch(struct consumer *consumer, struct thread *thread)
{
	struct dlprof_event epoch;

	if (ahead_take_epoch(consumer->maker, consumer->stream, &epoch))
		push(thread, &epoch);
	consumer->maker = thread->ahead.asker;
}

static void enter(struct consumer_wait *wait, struct thread *thread, uint64_t begin_ns)
{
	wait->thread = thread;
	wait->life = thread_life;
	wait->nested = is_nested(thread);
	wait->account = wait->nested ? NULL : account_of(thread);
	wait->begin_ns = begin_ns ? begin_ns : clock_now_ns();
	wait->outer = thread->parts;
	thread->parts = (struct thread_parts){.load_depth = thread->load_depth};
	thread->free_since_ns = 0;
	if (!wait->nested)
		training_pause(thread, wait->begin_ns);
	thread->wait_depth++;
}

/* Ends a wait. Returns false if another thread began it: that thread's state is left alone. */
static bool leave(struct consumer_wait *wait, uint64_t end_ns)
{
	struct thread *thread = wait->thread;

	if (thread_get() != thread)
		return false;
	thread->parts = wait->outer;
	if (--thread->wait_depth == 0) {
		thread->waited_ns += end_ns - wait->begin_ns;
		training_resume(thread, end_ns);
	}
	if (wait->account)
		wait->account->waited_ns += end_ns - wait->begin_ns;
	return true;
}

bool consumer_iter_begin(struct consumer_wait *wait, uint64_t begin_ns)
{
	struct thread *thread = activate_on() ? thread_get() : NULL;

	if (!thread)
		return false;
	enter(wait, thread, begin_ns);
	thread->parts.is_iter = true;
	summary_wait_begin(wait->account, wait->begin_ns);
	return true;
}

static void add_iter(struct thread *thread, uint64_t begin_ns, uint64_t ns, uint64_t sample_ns)
{
	/* An iter() may come in several parts. They are recorded as if no time lay in between. */
	thread->iter_begin_ns = begin_ns - thread->iter_ns;
	thread->iter_ns += ns;
	thread->iter_sample_ns += sample_ns;
}

void consumer_iter_end(struct consumer_wait *wait)
{
	const uint64_t end_ns = clock_now_ns();
	struct thread *thread = wait->thread;
	uint64_t sample_ns;

	if (!thread_is_in_life(wait->life))
		return;
	sample_ns = thread == thread_self ? thread->parts.sample_ns : 0;
	if (!leave(wait, end_ns))
		return;
	/* If __iter__() called this __init__(), the wait in __iter__() includes the sampling. */
	if (thread->parts.is_iter)
		thread->parts.sample_ns += sample_ns;
	if (thread->wait_depth)
		return;
	add_iter(thread, wait->begin_ns, end_ns - wait->begin_ns, sample_ns);
}

void consumer_iter_took(struct thread *thread, uint64_t begin_ns, uint64_t ns)
{
	struct account *account = is_nested(thread) ? NULL : account_of(thread);

	if (!account)
		return;
	summary_wait_begin(account, begin_ns);
	account->waited_ns += ns;
	thread->waited_ns += ns;
	add_iter(thread, begin_ns, ns, 0);
}

static void enter_next(struct consumer *consumer, struct consumer_wait *wait,
		       struct thread *thread, uint64_t begin_ns)
{
	launches_new_step(thread);
	polls_send(thread);
	wait->load = thread->load;
	wait->waited_ns = thread->waited_ns;
	thread->load = (struct thread_load){consumer->workers == 0 ? consumer->stream : 0,
					    consumer->generation, (uint32_t)consumer->ordinal};
	if (consumer->receive_ns != UINT64_MAX)
		consumer->receive_ns = 0;
	enter(wait, thread, begin_ns);
}

bool consumer_wait_begin(struct consumer *consumer, struct consumer_wait *wait, uint64_t begin_ns)
{
	struct thread *thread = thread_get();

	if (!thread)
		return false;
	look_at_asker(consumer, thread);
	if (unlikely(consumer->maker && consumer->maker != thread->ahead.asker))
		take_epoch(consumer, thread);
	if (consumer->is_staged && !is_nested(thread))
		stage_asked(consumer->loader, consumer->stream, consumer->generation);
	enter_next(consumer, wait, thread, begin_ns);
	summary_wait_begin(wait->account, wait->begin_ns);
	if (!wait->nested)
		consumer->account = wait->account;
	return true;
}

static struct thread *finish(struct consumer_wait *wait, uint64_t end_ns)
{
	struct thread *thread = thread_is_in_life(wait->life) ? thread_get() : NULL;

	if (!thread || !leave(wait, end_ns))
		return thread;
	thread->load = wait->load;
	thread->wait_count++;
	return thread;
}

/* Adds to a batch's wait the waits before it that ended with an exception. */
static void take_failed(struct thread *thread, struct dlprof_event *event)
{
	event->begin_ns -= thread->failed_ns;
	event->duration_ns += thread->failed_ns;
	event->batch.waited_ns -= thread->failed_ns;
	thread->failed_ns = 0;
}

static void keep_failed(struct thread *thread, const struct dlprof_event *event)
{
	if (!thread->failed_ns)
		thread->failed_begin_ns = event->begin_ns;
	thread->failed_ns += event->duration_ns;
}

/* Number of batches that process `pid` got. A forked child begins at 0. */
static struct {
	_Atomic uint64_t count;
	_Atomic uint32_t pid;
} delivered;

static void count_delivered(void)
{
	const uint32_t pid = (uint32_t)sys_getpid();

	if (atomic_exchange(&delivered.pid, pid) != pid)
		delivered.count = 0;
	delivered.count++;
}

uint64_t consumer_delivered(void)
{
	return delivered.pid == (uint32_t)sys_getpid() ? delivered.count : 0;
}

static void handed_out(struct thread *thread, struct account *account, bool nested,
		       const struct dlprof_event *event, uint64_t end_ns)
{
	if (event->kind == DLPROF_EVENT_BATCH) {
		if (!nested) {
			summary_batch(account, end_ns);
			training_batch(thread, event);
		}
		if (unlikely(config.stop_after) && !nested)
			count_delivered();
		if (!nested && account == thread->account)
			freeing_batch_came(thread, end_ns);
		run_watch(end_ns);
	} else if (event->flags & DLPROF_FLAG_FAILED && !nested) {
		keep_failed(thread, event);
	} else if (!nested) {
		training_stop(thread, event);
	}
}

void consumer_push_own(struct thread *thread)
{
	struct account *account = summary_has_pool() ? NULL : thread->account;
	const uint64_t waited_ns = account ? account->waited_ns : 0;
	struct dlprof_event event;

	while (ahead_next_own(thread, &event)) {
		thread_push(thread, &event);
		if (event.kind == DLPROF_EVENT_EPOCH)
			continue;
		if (account)
			account->waited_ns = event.batch.waited_ns;
		summary_wait_begin(account, event.begin_ns);
		if (account)
			account->waited_ns += event.duration_ns;
		handed_out(thread, account, false, &event, event.begin_ns + event.duration_ns);
	}
	if (account)
		account->waited_ns = waited_ns;
}

static bool hand_over(struct consumer_wait *wait, struct dlprof_event *event, uint64_t end_ns)
{
	struct thread *thread = finish(wait, end_ns);

	if (!thread)
		return false;
	event->worker = -1;
	event->begin_ns = wait->begin_ns;
	event->duration_ns = end_ns - wait->begin_ns;
	event->batch.waited_ns = wait->waited_ns;
	event->batch.free_ns = take_free_ns(thread);
	if (thread->failed_ns && event->kind == DLPROF_EVENT_BATCH && !wait->nested)
		take_failed(thread, event);
	if (push(thread, event))
		handed_out(thread, wait->account, wait->nested, event, end_ns);
	return true;
}

#define PARTS_UNSEEN                                                                               \
	.sample_ns = UINT64_MAX, .fetch_ns = UINT64_MAX, .fetch_cpu_ns = UINT64_MAX,               \
	.fetch_count = UINT32_MAX

/* Fills in the parts of a wait. `fetched`: fetches until the message came; NULL: not observed. */
static void fill_parts(const struct consumer *consumer, const struct thread_parts *wait,
		       const struct thread_parts *fetched, struct dlprof_batch *batch)
{
	struct thread_parts parts = {0};

	if (consumer->sees_samples)
		batch->sample_ns = wait->sample_ns;
	if (!consumer->sees_fetches || (consumer->workers && !fetched))
		return;
	if (fetched)
		parts = *fetched;
	pinning_take(consumer->stream, &parts);
	batch->fetch_ns = parts.fetch_ns;
	batch->fetch_count = (uint32_t)parts.fetch_count;
	batch->fetch_cpu_ns = 0;
	if (parts.timed_ns)
		batch->fetch_cpu_ns = (uint64_t)((double)parts.timed_cpu_ns *
						 (double)parts.fetch_ns / (double)parts.timed_ns);
}

void consumer_wait_end(struct consumer *consumer, struct consumer_wait *wait, uint32_t task)
{
	const uint64_t end_ns = clock_now_ns();
	const struct consumer_arrival *arrival = &consumer->arrivals[task % CONSUMER_ARRIVAL_MAX];
	const bool arrived = arrival->ns && arrival->task == task &&
			     arrival->generation == consumer->generation;
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_BATCH,
		.flags = flags_of(consumer, wait->nested),
		.stream = consumer->stream,
		.generation = consumer->generation,
		.task = task,
		.batch = {
			.ordinal = consumer->ordinal - consumer->skip_count,
			.ask_ns = arrived ? arrival->ask_ns : 0,
			.arrive_ns = arrived ? arrival->ns : 0,
			.receive_ns = consumer->receive_ns,
			PARTS_UNSEEN,
			.arrived = arrived,
		},
	};

	if (thread_is_in_life(wait->life))
		fill_parts(consumer, &wait->thread->parts, arrived ? &arrival->parts : NULL,
			   &event.batch);
	if (!hand_over(wait, &event, end_ns))
		return;
	consumer->ordinal++;
}

/* Ends a wait after which the training gets no batch. */
static bool stop(struct consumer *consumer, struct consumer_wait *wait, uint16_t flags)
{
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_STOP,
		.flags = flags_of(consumer, wait->nested) | flags,
		.stream = consumer->stream,
		.generation = consumer->generation,
	};

	return hand_over(wait, &event, clock_now_ns());
}

void consumer_wait_stop(struct consumer *consumer, struct consumer_wait *wait, bool failed)
{
	if (!stop(consumer, wait, failed ? DLPROF_FLAG_FAILED : 0))
		return;
	if (!failed && !consumer->over)
		epoch_ended(consumer);
	consumer->over = !failed;
}

uint64_t consumer_wait_skip(struct consumer *consumer, struct consumer_wait *wait)
{
	if (!stop(consumer, wait, DLPROF_FLAG_FAILED))
		return 0;
	consumer->ordinal++;
	consumer->skip_left--;
	consumer->skip_count++;
	return wait->thread->failed_ns;
}

bool consumer_drop_begin(struct consumer *consumer, struct consumer_wait *wait)
{
	struct thread *thread = thread_get();

	/* The drop of an iterator within a wait or a load counts for that wait or load. */
	if (!thread || !thread->wait_count || is_nested(thread) || thread->ahead.asker ||
	    !consumer->stream || consumer->over)
		return false;
	enter_next(consumer, wait, thread, 0);
	return true;
}

/* The training may have ended with this drop, so the account is left as it is. */
void consumer_drop_end(struct consumer *consumer, struct consumer_wait *wait)
{
	if (stop(consumer, wait, DLPROF_FLAG_DROPPED))
		consumer_abandon(consumer);
}

void consumer_hand_on(struct dlprof_event *event, uint64_t begin_ns, uint64_t end_ns)
{
	/* Nothing more is known of this wait: another thread recorded what happened within it. */
	static struct consumer outer = {.workers = -1, .receive_ns = UINT64_MAX};
	struct consumer_wait wait;

	if (!consumer_wait_begin(&outer, &wait, begin_ns))
		return;
	event->flags = (uint16_t)(event->flags & ~DLPROF_FLAG_NESTED) |
		       flags_of(&outer, wait.nested);
	event->batch.receive_ns = event->batch.sample_ns = UINT64_MAX;
	event->batch.fetch_ns = event->batch.fetch_cpu_ns = UINT64_MAX;
	event->batch.fetch_count = UINT32_MAX;
	hand_over(&wait, event, end_ns);
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
	thread->parts.fetch_ns = thread->parts.fetch_count = 0;
	thread->parts.timed_ns = thread->parts.timed_cpu_ns = 0;
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
	consumer->arrivals[at] = (struct consumer_arrival){
		receive->ask_ns, now_ns, (uint32_t)task, consumer->generation, thread->parts};
}
