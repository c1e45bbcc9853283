/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/taker.h"

#include "base/clock.h"
#include "batch/consumer.h"
#include "record/activate.h"

/* Writes an item's records as this thread's. The last one has the wait, others have no length. */
static void tell_item(struct thread *thread, struct ahead_item *item)
{
	const bool has_batch = item->events[AHEAD_BATCH].kind;

	for (int i = 0; i < AHEAD_EVENT_MAX; i++) {
		struct dlprof_event *event = &item->events[i];

		if (!event->kind)
			continue;
		if (i == (has_batch ? AHEAD_BATCH : AHEAD_STOP)) {
			consumer_hand_on(event, item->begin_ns, item->end_ns);
			continue;
		}
		/* If another thread made the iterator, this thread spent no time on that. */
		if (i != AHEAD_EPOCH || event->epoch.unused != thread->tid) {
			event->begin_ns = item->begin_ns;
			event->duration_ns = 0;
		}
		if (i == AHEAD_EPOCH) {
			if (!event->duration_ns)
				event->epoch.waited_ns = thread->waited_ns;
			event->epoch.unused = 0;
			event->epoch.flags &= ~AHEAD_EPOCH_AGAIN;
			/* The asker loads ahead of this thread, just as one worker would. */
			if (!event->epoch.workers)
				event->epoch.workers = 1;
		} else {
			event->batch.waited_ns = thread->waited_ns;
		}
		thread_push(thread, event);
	}
	ahead_drop(thread, item);
}

static void tell_items(struct thread *thread)
{
	struct ahead_item *item;

	while ((item = ahead_next(thread)))
		tell_item(thread, item);
}

bool taker_takes(const void *key, const void *object, uint64_t begin_ns, uint64_t end_ns)
{
	struct thread *thread = thread_get();

	if (!thread || !ahead_takes(thread, key, object, begin_ns, end_ns))
		return false;
	tell_items(thread);
	return true;
}

void taker_found_none(const void *key, uint64_t begin_ns)
{
	struct thread *thread = thread_get();

	if (thread)
		ahead_found_none(thread, key, begin_ns, clock_now_ns());
}

void taker_ends(uint64_t begin_ns)
{
	struct thread *thread = thread_get();

	if (!thread)
		return;
	ahead_ends(thread, begin_ns, clock_now_ns());
	tell_items(thread);
}

void taker_gives_up(bool doubtful)
{
	struct thread *thread = thread_get();

	if (!thread || !thread->ahead.asker)
		return;
	ahead_give_up(thread, doubtful);
	consumer_push_own(thread);
}

RARELY void taker_trains_first(void)
{
	struct thread *thread = activate_on() ? thread_get() : NULL;

	if (!thread)
		return;
	ahead_trains(thread);
	taker_gives_up(false);
	if (thread->ahead.held_count)
		tell_items(thread);
}

bool taker_asks(uint64_t stream)
{
	struct thread *thread = thread_get();

	if (!thread || consumer_is_inside() || !ahead_asks(thread, stream))
		return false;
	if (!ahead_is_own(thread))
		return true;
	consumer_push_own(thread);
	return false;
}
