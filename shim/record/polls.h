/* SPDX-License-Identifier: Apache-2.0 */
/*
 * polls.h - finds waits of a thread that asks the GPU again and again whether its work is done.
 *
 * A query by itself is no wait. Time between a query that found work unfinished and the next one is
 * a wait if the thread did nothing else in it: at most POLLS_BUSY_NS of CPU time, no other call of
 * CUDA, no new step, and less than POLLS_APART_NS in all. Waits below POLLS_LEAST_NS are dropped:
 * an allocator asks without waiting.
 */
#pragma once

#include "dlprof/event.h"
#include "record/thread.h"

#define POLLS_BUSY_NS  100000
#define POLLS_APART_NS 200000000
#define POLLS_LEAST_NS 100000

void polls_add(struct thread *thread, enum dlprof_gpu_kind kind, uint64_t begin_ns, uint64_t end_ns,
	       bool unfinished);

void polls_send_all(struct thread *thread);

/* Ends the thread's wait by queries, if any, because the thread now does something else. */
static inline void polls_send(struct thread *thread)
{
	if (unlikely(thread->poll.begin_ns))
		polls_send_all(thread);
}
