/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ahead.h - follows batches that one thread, the asker, gets for another, the taker, that trains.
 *
 * The asker's records are held back until the taker gets the batch out of a queue or future. They
 * are then written as the taker's records. What is put into the queue or future is called an item.
 * An item must have one batch, and be put before the asker asks again. If the asker trains, items
 * may be results of steps. Items count as batches only if they contain the batch object, if the
 * taker runs backward passes, or in a library that is known to prefetch. The GIL guards all data.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/thread.h"

#define AHEAD_PART_MAX 24

/* Addresses of a batch object and of its parts. The addresses are only compared. */
struct ahead_parts {
	const void *at[AHEAD_PART_MAX];
	uint32_t count;
};

/* An item's records, in order: the end of the last epoch, a new epoch, a batch. */
enum { AHEAD_STOP, AHEAD_EPOCH, AHEAD_BATCH, AHEAD_EVENT_MAX };

struct ahead_item {
	uint32_t asker; /* number of the asker; 0: free */
	uint64_t order; /* the item's number among all items */
	uint64_t place; /* the item's number among the asker's items, from 1 */
	const void *key, *object; /* the queue or future, and the object put there */
	uint32_t taker; /* tid of the thread that took the item; 0: none yet */
	uint64_t begin_ns, end_ns; /* wait of the taker or, if it was not seen, of the asker */
	struct dlprof_event events[AHEAD_EVENT_MAX]; /* of kind NONE if there is no such record */
};

/* Flag of a second EPOCH record, which repeats the first one for the taker. */
#define AHEAD_EPOCH_AGAIN (1u << 31)

/* Notes that the loader of DLPROF_BATCH_FN was asked, so any thread may prefetch for it. */
void ahead_named(void);

/* Returns true if this waiting thread may be a prefetcher for the loader of DLPROF_BATCH_FN. */
bool ahead_may_be_users(const struct thread *thread);

/* Notes that the thread will ask `stream`. Returns true if ahead_keep() may keep its records. */
bool ahead_asks(struct thread *thread, uint64_t stream);

/* Notes the batch that the thread got after ahead_asks(). */
void ahead_took(const struct thread *thread, const struct ahead_parts *batch);

/* Holds `event` back if the thread is an asker. Returns false if the caller must write it. */
bool ahead_keep(struct thread *thread, const struct dlprof_event *event);

/* Moves the EPOCH held back for `asker` to *ret_event, because another thread uses the iterator. */
bool ahead_take_epoch(uint32_t asker, uint64_t stream, struct dlprof_event *ret_event);

/*
 * Stops holding back the asker's records: the asker itself trains with its batches or, if
 * `doubtful`, hands them on in a way that dlprof does not follow.
 */
void ahead_give_up(struct thread *thread, bool doubtful);

/* Returns true if the asker trains with its batches itself: records held back are its own. */
bool ahead_is_own(const struct thread *thread);

/* Moves the next record that is held back to *ret_event. Returns false if none is left. */
bool ahead_next_own(struct thread *thread, struct dlprof_event *ret_event);

bool ahead_has(const struct thread *thread);

/*
 * Notes that the thread puts `object` into the queue at address `key`, which holds `count` objects
 * (UINT64_MAX: unknown). If `object` is NULL, `key` is a future whose result the thread sets.
 * Returns true if the object or result becomes an item, which has a batch for the taker.
 */
bool ahead_puts(struct thread *thread, const void *key, const void *object,
		const struct ahead_parts *parts, uint64_t count);
void ahead_put_failed(struct thread *thread, const void *key, const void *object);

/*
 * Notes that the thread waited for `object`, and took it out of the queue or future at address
 * `key`. Returns true if ahead_puts() noted `object` as an item.
 */
bool ahead_takes(struct thread *thread, const void *key, const void *object, uint64_t begin_ns,
		 uint64_t end_ns);

/* Notes that after a wait a library told the thread that no more items will come. */
void ahead_ends(struct thread *thread, uint64_t begin_ns, uint64_t end_ns);

/* Returns the next item that the thread trains with, or NULL. Call ahead_drop() after use. */
struct ahead_item *ahead_next(struct thread *thread);
void ahead_drop(struct thread *thread, struct ahead_item *item);

/*
 * Notes that queue `key` was empty (NULL: a future was not done). The wait for the queue goes on if
 * the thread checks again at once. A pause between the checks may be a step.
 */
void ahead_found_none(struct thread *thread, const void *key, uint64_t begin_ns, uint64_t end_ns);

#define AHEAD_TRAINS_MIN 32

/* Returns true if ahead_trains() has nothing more to note of this thread. */
static inline bool ahead_is_settled(const struct thread *thread)
{
	return thread->ahead.train_count > AHEAD_TRAINS_MIN && !thread->ahead.asker &&
	       !thread->ahead.held_count;
}

/* Notes that the thread trains. Warns if it gets batches in a way that dlprof does not follow. */
void ahead_trains(struct thread *thread);

/* Call these two around each wait: they find threads beside the main one that only prefetch. */
void ahead_watch_begin(struct thread *thread);
void ahead_watch_end(struct thread *thread);
