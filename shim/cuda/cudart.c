/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/cudart.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "cuda/state.h"
#include "record/launches.h"
#include "record/polls.h"

#define NOT_READY 600 /* what a query of the runtime or the driver returns */

__thread uintptr_t cudart_frame __attribute__((tls_model("initial-exec")));
static _Atomic uint64_t launch_ticks, launch_count;
/* the thread_life in which the drain was told that the host's calls are recorded */
static _Atomic uint32_t announced;
static _Atomic uint64_t memset_count, peer_bytes;
static _Atomic bool given; /* memset_count or peer_bytes grew after the drain was last told */

uint64_t cudart_last_launch_ns(void)
{
	uint64_t ticks = launch_ticks;

	return ticks ? clock_now_ns() - clock_length_ns(clock_ticks() - ticks) : 0;
}

uint64_t cudart_launch_count(void)
{
	return launch_count;
}

static void push(struct thread *thread, enum dlprof_event_kind kind, uint64_t begin_ns,
		 uint64_t end_ns, uint32_t what, uint64_t bytes)
{
	struct dlprof_event event = {
		.kind = (uint16_t)kind,
		.worker = -1,
		.begin_ns = begin_ns,
		.duration_ns = end_ns - begin_ns,
	};
	struct dlprof_gpu_op op = {.what = what};

	if (kind == DLPROF_EVENT_GPU_OPS) {
		event.gpu_ops.count = 1;
		event.gpu_ops.ops[0] = op;
	} else {
		event.gpu_copies.count = 1;
		event.gpu_copies.copies[0] =
			(struct dlprof_gpu_copy){op, (uint32_t)bytes, (uint32_t)(bytes >> 32)};
	}
	thread_push(thread, &event);
}

static void tell(struct thread *thread)
{
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_GPU_STATE,
		.worker = -1,
		.begin_ns = clock_now_ns(),
		.gpu_state = {.state = DLPROF_GPU_HOST,
			      .memset_count = memset_count,
			      .peer_bytes = peer_bytes},
	};

	thread_push(thread, &event);
}

/* Returns this thread if calls of the host are recorded, else NULL. */
static struct thread *enter(void)
{
	struct thread *thread;
	uint32_t before;

	if (!activate_on())
		return NULL;
	state_in_use();
	if (state_mode() != STATE_HOST)
		return NULL;
	thread = thread_get();
	before = announced;
	if (thread && unlikely(before != thread_life) &&
	    atomic_compare_exchange_strong(&announced, &before, thread_life))
		tell(thread);
	return thread;
}

/* Called after the launch: before the first one, CUDA has not started and no mode is chosen. */
void cudart_launch(uint32_t graph)
{
	struct thread *thread;
	uint64_t now_ns;

	cudart_frame = 0;
	atomic_store_explicit(&launch_ticks, clock_ticks(), memory_order_relaxed);
	atomic_fetch_add_explicit(&launch_count, 1, memory_order_relaxed);
	thread = enter();
	if (likely(!thread))
		return;
	polls_send(thread);
	if (!graph) {
		launches_add(thread);
		return;
	}
	now_ns = clock_now_ns();
	push(thread, DLPROF_EVENT_GPU_OPS, now_ns, now_ns, DLPROF_GPU_WHAT(DLPROF_GPU_GRAPH, 0, 0),
	     0);
}

/* Sends what waits to be sent for the thread, so that it comes before the thread's next record. */
static void send(struct thread *thread)
{
	launches_send(thread);
	polls_send(thread);
	if (atomic_exchange(&given, false))
		tell(thread);
}

void cudart_synced(uint64_t begin_ns, enum dlprof_gpu_kind kind)
{
	struct thread *thread = enter();
	uint64_t now_ns;

	cudart_frame = 0;
	if (!thread && activate_on() && kind == DLPROF_GPU_SYNC_CONTEXT &&
	    state_lacks_device_sync())
		thread = thread_get();
	if (!thread)
		return;
	send(thread);
	now_ns = clock_now_ns();
	push(thread, DLPROF_EVENT_GPU_OPS, begin_ns, now_ns, DLPROF_GPU_WHAT(kind, 0, 0), 0);
}

void cudart_copied(uint64_t begin_ns, uint64_t bytes, int kind)
{
	struct thread *thread = enter();
	enum dlprof_gpu_kind copy = kind == CUDART_TO_DEVICE ? DLPROF_GPU_H2D
				    : kind == CUDART_TO_HOST ? DLPROF_GPU_D2H
							     : DLPROF_GPU_COPY;

	cudart_frame = 0;
	if (!thread)
		return;
	send(thread);
	push(thread, DLPROF_EVENT_GPU_COPIES, begin_ns, clock_now_ns(),
	     DLPROF_GPU_WHAT(copy, 0, kind == CUDART_ANYWHERE ? DLPROF_GPU_ANYWHERE : 0), bytes);
}

void cudart_given(uint64_t memsets, uint64_t bytes)
{
	struct thread *thread = enter();

	cudart_frame = 0;
	if (!thread)
		return;
	polls_send(thread);
	atomic_fetch_add(&memset_count, memsets);
	atomic_fetch_add(&peer_bytes, bytes);
	given = true;
}

void cudart_polled(uint64_t begin_ns, enum dlprof_gpu_kind kind, int result)
{
	struct thread *thread = enter();

	cudart_frame = 0;
	/* A thread that takes no batches, such as NCCL's, may query for as long as it lives. */
	if (thread && thread->account)
		polls_add(thread, kind, begin_ns, clock_now_ns(), result == NOT_READY);
}
