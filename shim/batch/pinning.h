/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pinning.h - counts the tensors that a pinning thread fetches: it receives batches for the
 * training and pins their memory. Such a thread runs ahead of the training, and nobody knows for
 * which batch it fetches, so the next batch that the training takes from the loader gets the
 * counts. Under the GIL.
 */
#pragma once

#include <stdint.h>

#include "record/thread.h"

/* Notes that this thread receives the batches of `stream` from now on, or of none if it is 0. */
void pinning_of(struct thread *thread, uint64_t stream);

/* Returns the counts of this thread if it is a pinning thread, else NULL. */
struct thread_parts *pinning_parts(const struct thread *thread);

/* Moves the stream's counts since the last call into *parts. */
void pinning_take(uint64_t stream, struct thread_parts *parts);
