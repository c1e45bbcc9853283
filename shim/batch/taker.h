/* SPDX-License-Identifier: Apache-2.0 */
/* taker.h - follows batches between this thread and askers or takers (ahead.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "batch/ahead.h"

/*
 * Called before this thread asks `stream` for a batch, or (0) before it makes an iterator. Returns
 * true if the batch may be for another thread.
 */
bool taker_asks(uint64_t stream);

/* Ends this asker's holding back (ahead_give_up()), and writes the held records. */
void taker_gives_up(bool doubtful);

/*
 * Called after this thread waited for `object` from queue `key` (`object` NULL: for future `key`).
 * Returns false if it is no item of an asker.
 */
bool taker_takes(const void *key, const void *object, uint64_t begin_ns, uint64_t end_ns);

/* Called when queue `key` was empty (NULL: some future was not done). */
void taker_found_none(const void *key, uint64_t begin_ns);

/* Called when an asker's items ended, for which this thread waited since `begin_ns`. */
void taker_ends(uint64_t begin_ns);

/* Called before each backward pass and each optimizer of this thread. */
void taker_trains_first(void);

static inline void taker_trains(void)
{
	const struct thread *thread = thread_self;

	if (unlikely(!thread || thread->life != thread_life || !ahead_is_settled(thread)))
		taker_trains_first();
}
