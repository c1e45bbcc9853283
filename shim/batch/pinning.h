/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pinning.h - counts the loads of a thread that receives batches for the training and pins their
 * memory. Such a thread is ahead of the training, and it is not known for which batch it loads, so
 * the next batch that the training takes of the loader gets the counts. Under the GIL.
 */
#pragma once

#include <stdint.h>

#include "record/thread.h"

/* Notes that this thread receives the batches of `stream` from now on; 0: no more. */
void pinning_of(struct thread *thread, uint64_t stream);

/* Returns the counts of this thread, if it pins; else NULL. */
struct thread_parts *pinning_parts(const struct thread *thread);

/* Takes the counts of the stream since the last call. */
void pinning_take(uint64_t stream, struct thread_parts *parts);
