/* SPDX-License-Identifier: Apache-2.0 */
#include "record/thread.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/table.h"
#include "record/activate.h"
#include "record/segment.h"

uint32_t thread_life HOT_DATA = 0;

__thread struct thread *thread_self __attribute__((tls_model("initial-exec")));

/* Each slot has two structs, for odd and even lives: a parent's call may end in a forked child. */
TABLE(struct thread, threads, SEGMENT_MAX * 2 * DLPROF_SLOT_COUNT)
static _Atomic uint32_t segments_used;

const _Atomic uint32_t thread_no_version = UINT32_MAX;

/* Allows quick.h, unless each operation is recorded or the clock is a system call. */
static void thread_quicken(struct thread *thread)
{
	thread->quick_life = clock_scale && config.detail != CONFIG_DETAIL_ALL ? thread->life : 0;
}

static void thread_use_far(struct thread *thread)
{
	thread->ring = thread->slot->far;
	thread->ring_capacity = DLPROF_RING_CAPACITY;
}

void thread_reset(struct thread *thread, struct dlprof_slot *slot, uint32_t tid)
{
	memset(thread, 0, sizeof(*thread));
	thread->life = thread_life;
	thread_quicken(thread);
	thread->slot = slot;
	thread->tid = tid;
	thread->ring = slot->near;
	thread->ring_capacity = DLPROF_NEAR_CAPACITY;
	/* If an earlier thread of this slot used `far`, go on there. */
	if (slot->far_from)
		thread_use_far(thread);
	thread->worker = -1;
	thread->frame = &thread->frames[0];
	thread->frame->address = UINTPTR_MAX;
	/* From this value quick_end() knows whether its call began in another life. */
	thread->frame->inner_ticks = thread->life * 2 * THREAD_NEVER_TICKS;
	thread->visit.fd = -1;
	thread->visit.quick = &thread_no_version;
}

/* Drops the frames of an earlier life, so that calls which end now do not find them. */
static void drop_calls(struct thread *before)
{
	for (int i = 0; i < DLPROF_SLOT_COUNT; i++) {
		if (before[i].frame)
			before[i].frame = &before[i].frames[0];
		before[i].frames[0].inner_ticks += 2 * THREAD_NEVER_TICKS;
	}
}

static struct thread *threads_of(uint32_t segment, uint32_t life)
{
	return threads() + (segment * 2 + life % 2) * DLPROF_SLOT_COUNT;
}

int thread_begin_life(void)
{
	if (!threads())
		return -ENOMEM;
	thread_life++;
	for (uint32_t i = 0; i < segments_used; i++) {
		drop_calls(threads_of(i, thread_life + 1));
		memset(threads_of(i, thread_life), 0, DLPROF_SLOT_COUNT * sizeof(struct thread));
	}
	return 0;
}

struct thread *thread_claim(void)
{
	struct segment_claim claim;
	struct thread *thread;
	uint32_t used = segments_used;

	thread_self = NULL;
	if (!segment_claim(&claim))
		return NULL;
	while (used <= claim.segment &&
	       !atomic_compare_exchange_weak(&segments_used, &used, claim.segment + 1))
		continue;
	thread = threads_of(claim.segment, thread_life) + claim.place;
	thread_reset(thread, claim.slot, claim.tid);
	thread_self = thread;
	return thread;
}

OFTEN bool thread_is_in_life(uint32_t life)
{
	return likely(activate_on() && life == thread_life);
}

/* Lets the ring go on in `far` with record number `head`. Returns false if it cannot grow. */
static RARELY bool thread_grow(struct thread *thread, uint64_t head)
{
	struct dlprof_slot *slot = thread->slot;

	if (thread->ring == slot->far || segment_reserve(slot, SEGMENT_FAR) < 0)
		return false;
	atomic_store_explicit(&slot->far_from, head, memory_order_release);
	thread_use_far(thread);
	return true;
}

void thread_push(struct thread *thread, const struct dlprof_event *event)
{
	struct dlprof_slot *slot = thread->slot;
	uint64_t head, tail;

	/* If there was a fork since the caller checked, the ring is the parent's. */
	if (unlikely(!activate_is_here()))
		return;
	if (thread->busy) {
		atomic_fetch_add_explicit(&slot->lost_count, 1, memory_order_relaxed);
		return;
	}
	thread->busy = true;
	thread->quick_life = 0;
	/* Read `head` only now: until `busy` was set, a signal handler may have pushed records. */
	atomic_signal_fence(memory_order_seq_cst);
	head = atomic_load_explicit(&slot->head, memory_order_relaxed);
	tail = atomic_load_explicit(&slot->tail, memory_order_acquire);
	if (likely(head - tail < thread->ring_capacity) || thread_grow(thread, head)) {
		thread->ring[head & (thread->ring_capacity - 1)] = *event;
		atomic_store_explicit(&slot->head, head + 1, memory_order_release);
	} else {
		atomic_fetch_add_explicit(&slot->lost_count, 1, memory_order_relaxed);
	}
	atomic_signal_fence(memory_order_seq_cst);
	thread->busy = false;
	thread_quicken(thread);
}
