/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pinning.h - what is fetched by a thread that receives batches for the training, as it pins their
 * memory. It is ahead of the training, and which batch it was for is not known: the next batch that
 * the training takes of that loader tells. Under the GIL.
 */
#pragma once

#include <stdint.h>

#include "record/thread.h"

/* This thread receives the batches of a stream from now on, or no more (0). */
void pinning_of(struct thread *thread, uint64_t stream);

/* What this thread fetches, if it is one of them; else NULL. */
struct thread_parts *pinning_parts(const struct thread *thread);

/* Adds what was fetched for the stream since this was asked last. */
void pinning_take(uint64_t stream, struct thread_parts *parts);
