/* SPDX-License-Identifier: Apache-2.0 */
/* taker.h - notes that this thread takes a batch for another thread, or gets one from it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Returns true if this thread may ask `stream`, or (0) make an iterator, for another thread. */
bool taker_asks(uint64_t stream);

/* Called if the batch is for this thread itself or, if `doubtful`, cannot be followed. */
void taker_gives_up(bool doubtful);

/* Called after a wait for `object`. Returns false if it is not followed. */
bool taker_takes(const void *key, const void *object, uint64_t begin_ns, uint64_t end_ns);

/* `key` is an empty queue; NULL: some future was not done. */
void taker_found_none(const void *key, uint64_t begin_ns);

/* Called when another thread's items ended. This thread waited for that since `begin_ns`. */
void taker_ends(uint64_t begin_ns);

void taker_trains(void);
