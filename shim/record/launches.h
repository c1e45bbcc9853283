/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launches.h - counts the kernels that a thread launched, as the host saw it, and sends them as one
 * record for each step and thread.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "base/sys.h"
#include "record/thread.h"

/* Steps that began in this process, on any thread. No record has launches of two steps. */
extern HIDDEN _Atomic uint32_t launches_steps;

void launches_add(struct thread *thread);

/* Sends the launches that were counted and not sent yet. */
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
