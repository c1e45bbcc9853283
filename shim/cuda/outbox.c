/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/outbox.h"

#include <stddef.h>

#include "base/text.h"
#include "cuda/activity.h"
#include "cuda/buffers.h"
#include "cuda/cupti.h"
#include "cuda/state.h"
#include "record/thread.h"

#define ROOM_NS    2000000 /* pause after which a full ring is looked at again */
#define ROOM_TRIES 500

struct outbox_counts outbox_counts;

static struct {
	bool no_room;
	uint64_t dropped_by_cupti, dropped;
} own;

void outbox_push(const struct dlprof_event *event)
{
	struct thread *thread = thread_get();

	if (!thread) {
		own.dropped++;
		return;
	}
	for (int i = 0; !thread_has_room(thread, 1); i++) {
		if (own.no_room || i == ROOM_TRIES) {
			own.no_room = true;
			if (event->kind == DLPROF_EVENT_GPU_COPIES)
				own.dropped += event->gpu_copies.count;
			else if (event->kind == DLPROF_EVENT_GPU_OPS)
				own.dropped += event->gpu_ops.count;
			return;
		}
		sys_nap(ROOM_NS);
	}
	own.no_room = false;
	thread_push(thread, event);
}

/* Adds CUPTI's count of dropped records, unless there is another user: reading resets the count. */
static void count_dropped(void)
{
	size_t dropped = 0;

	if (!state_is_yielded() && cupti.ActivityGetNumDroppedRecords(NULL, 0, &dropped) == 0)
		own.dropped_by_cupti += dropped;
}

void outbox_state(enum dlprof_gpu_state_kind state, uint64_t when_ns, const char *why)
{
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_GPU_STATE,
		.worker = -1,
		.begin_ns = when_ns,
		.gpu_state =
			{
				.state = state,
				.flags = activity_flags(),
				.record_count = outbox_counts.records,
				.bad_count = outbox_counts.bad,
				.own_drop_count = own.dropped + buffers_dropped(),
				.overhead_ns = outbox_counts.overhead_ns,
			},
	};

	if (state == DLPROF_GPU_COMPLETE)
		count_dropped();
	event.gpu_state.dropped_count = own.dropped_by_cupti;
	text_copy(event.gpu_state.why, sizeof(event.gpu_state.why), why ? why : "");
	outbox_push(&event);
}
