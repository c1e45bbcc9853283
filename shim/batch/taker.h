/* SPDX-License-Identifier: Apache-2.0 */
/* taker.h - batches that this thread takes for another thread, or from one; see ahead.h. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns true if this thread may be about to take something for another thread: a batch from the
 * loader of `stream`, or (0) the iterator that it makes.
 */
bool taker_asks(uint64_t stream);

/* Notes that the batch is for this thread itself or, if `doubtful`, that it cannot be followed. */
void taker_gives_up(bool doubtful);

/* Notes that this thread waited for `object` and took it. Returns false if it is not followed. */
bool taker_takes(const void *key, const void *object, uint64_t begin_ns, uint64_t end_ns);

/* Notes that nothing was in the queue `key`, or, if it is NULL, that some future was not done. */
void taker_found_none(const void *key, uint64_t begin_ns);

/* Notes that this thread waited for the end of the items that another one hands on. */
void taker_ends(uint64_t begin_ns);

/* Notes that this thread runs a backward pass or an optimizer step. */
void taker_trains(void);
