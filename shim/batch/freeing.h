/* SPDX-License-Identifier: Apache-2.0 */
/*
 * freeing.h - measures how long it takes to free the shared memory in which a batch came.
 *
 * `for batch in loader` lets go of a batch just after the next one was delivered, so whoever
 * measures around the loop's body counts the freeing as waiting. So do we, if the thread that took
 * a batch at once unmaps what it mapped while it waited for an older one. Memory that it frees
 * later, or that is its own, is part of its step.
 */
#pragma once

#include <stdint.h>

#include "record/thread.h"

/* Notes that this thread mapped memory that other processes may write to. */
void freeing_mapped(const void *address);

struct freeing {
	struct thread *thread;
	uint64_t begin_ns;
};

/*
 * Begins to time a munmap(). Returns false if it frees other memory or comes too late; then do not
 * call freeing_end().
 */
bool freeing_begin(struct freeing *freeing, const void *address);
void freeing_end(const struct freeing *freeing);
