/* SPDX-License-Identifier: Apache-2.0 */
#include "record/launches.h"

#include "base/clock.h"
#include "dlprof/event.h"

#define LAUNCHES_MOST 1024
#define LAUNCHES_NS   UINT64_C(10000000)

_Atomic uint32_t launches_steps;

void launches_send_all(struct thread *thread)
{
	struct dlprof_event event = {
		.kind = DLPROF_EVENT_GPU_OPS,
		.worker = -1,
		.begin_ns = thread->launch_begin_ns,
		.duration_ns = thread->launch_end_ns - thread->launch_begin_ns,
		.gpu_ops = {.count = 1,
			    .ops = {{.what = DLPROF_GPU_WHAT(DLPROF_GPU_LAUNCH, 0,
							     thread->launch_count)}}},
	};

	thread_push(thread, &event);
	thread->launch_count = 0;
}

void launches_add(struct thread *thread)
{
	const uint32_t step = atomic_load_explicit(&launches_steps, memory_order_relaxed);
	const uint64_t now_ns = clock_now_ns();

	if (thread->launch_count == LAUNCHES_MOST || thread->launch_step != step ||
	    now_ns - thread->launch_begin_ns > LAUNCHES_NS)
		launches_send(thread);
	if (!thread->launch_count++) {
		thread->launch_begin_ns = now_ns;
		thread->launch_step = step;
	}
	thread->launch_end_ns = now_ns;
}
