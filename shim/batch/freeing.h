/* SPDX-License-Identifier: Apache-2.0 */
/*
 * freeing.h - the shared memory in which a batch came, and how long it takes to free it.
 *
 * `for batch in loader` lets go of a batch just after the next one was handed out, so measuring
 * around the loop's body counts that as waiting. So do we, if the thread that was handed a batch at
 * once unmaps what it mapped while it waited for an older one. Memory that it frees later, or that
 * is its own, is part of its step.
 */
#pragma once

#include <stdint.h>

#include "record/thread.h"

/* This thread mapped memory that other processes may write into. */
void freeing_mapped(const void *address);

struct freeing {
	struct thread *thread;
	uint64_t begin_ns;
};

/* Around munmap(). False: it is other memory, or not at once; do not call freeing_end(). */
bool freeing_begin(struct freeing *freeing, const void *address);
void freeing_end(const struct freeing *freeing);
