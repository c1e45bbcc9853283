/* SPDX-License-Identifier: Apache-2.0 */
/* taker.h - follows batches that this thread gets from askers or for takers (ahead.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "batch/ahead.h"

/*
 * Notes that this thread will ask `stream` for a batch or, if `stream` is 0, make an iterator.
 * Returns true if this thread may pass the batch or iterator on to another thread.
 */
bool taker_asks(uint64_t stream);

/* Stops holding back the records of this thread, an asker, and writes those that were held. */
void taker_gives_up(bool doubtful);

/*
 * Notes that this thread waited for `object` from the queue at address `key` or, if `object` is
 * NULL, for the result of the future there. Returns false if no asker put it there.
 */
bool taker_takes(const void *key, const void *object, uint64_t begin_ns, uint64_t end_ns);

/* Notes that queue `key` was empty (NULL: that a future was not done). */
void taker_found_none(const void *key, uint64_t begin_ns);

/* Notes that an asker's items have ended, for which this thread waited since `begin_ns`. */
void taker_ends(uint64_t begin_ns);

/* Notes that this thread trains. Call it before each backward pass and each optimizer. */
void taker_trains_first(void);

static inline void taker_trains(void)
{
	const struct thread *thread = thread_known();

	if (unlikely(!thread || !ahead_is_settled(thread)))
		taker_trains_first();
}
