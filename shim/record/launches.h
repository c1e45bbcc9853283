/* SPDX-License-Identifier: Apache-2.0 */
/* launches.h - counts the kernels that each thread launches, and makes one record for each step. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "base/sys.h"
#include "record/thread.h"

/* number of steps begun, in all threads: when it changes, the next launch begins a new record */
extern HIDDEN _Atomic uint32_t launches_steps;

void launches_add(struct thread *thread);

void launches_send_all(struct thread *thread);

static inline void launches_send(struct thread *thread)
{
	if (unlikely(thread->launch_count))
		launches_send_all(thread);
}

static inline void launches_new_step(struct thread *thread)
{
	atomic_fetch_add_explicit(&launches_steps, 1, memory_order_relaxed);
	launches_send(thread);
}
