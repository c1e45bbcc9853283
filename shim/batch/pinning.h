/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pinning.h - what is fetched by a thread that receives batches for the training and pins their
 * memory. Such a thread is ahead of the training, and for which batch it fetches is not known, so
 * the next batch that the training takes of that loader gets it. Under the GIL.
 */
#pragma once

#include <stdint.h>

#include "record/thread.h"

/* Notes that this thread receives the batches of a stream from now on, or no more (0). */
void pinning_of(struct thread *thread, uint64_t stream);

/* What this thread has fetched, if it is such a thread; else NULL. */
struct thread_parts *pinning_parts(const struct thread *thread);

/* Takes what was fetched for the stream since the last call. */
void pinning_take(uint64_t stream, struct thread_parts *parts);
