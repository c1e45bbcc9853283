/* SPDX-License-Identifier: Apache-2.0 */
/*
 * freeing.h - measures how long it takes to free the shared memory in which a batch came.
 *
 * `for batch in loader` frees a batch just after the next one was delivered. A program that
 * measures its loop's body counts this freeing as waiting, and so do we. An munmap() counts if the
 * thread that took a batch calls it at once, for memory that was mapped during the wait for an
 * older batch. Freeing other memory, or freeing later, is part of the step.
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
