/* SPDX-License-Identifier: Apache-2.0 */
/* pinning.h - counts what a pinning thread fetches; the next batch taken gets the counts. */
#pragma once

#include <stdint.h>

#include "record/thread.h"

/* Notes which stream's batches this thread receives and pins from now on; 0: none. */
void pinning_of(struct thread *thread, uint64_t stream);

/* Returns where to count this thread's fetches, or NULL if the thread pins no batches. */
struct thread_parts *pinning_parts(const struct thread *thread);

/* Adds to *parts what was counted for the stream since the last call. */
void pinning_take(uint64_t stream, struct thread_parts *parts);
