/* SPDX-License-Identifier: Apache-2.0 */
/* launches.h - counts kernels that a thread launches, in a record for each step and thread. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "base/sys.h"
#include "record/thread.h"

/* Number of steps that threads began. A record has launches of one step only. */
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
