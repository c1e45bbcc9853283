/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ahead.h - follows batches that one thread (the asker) takes from a loader, and that another
 * thread (the taker) gets from the asker through a queue or a future.
 *
 * We hold back the asker's records of a batch until the taker gets the batch. Then we write them as
 * records of the taker: with the taker's wait, and with the load unchanged. This works only if the
 * asker puts each batch into the queue as one item, before it asks for the next batch.
 *
 * But if the asker trains, its items may be results, not batches. So one of these must show that
 * items are batches: an item contains the batch object itself, or the taker runs backward passes,
 * or the library is known. Until then, records stay the asker's. All of this needs the GIL.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/thread.h"

#define AHEAD_PART_MAX 24

/* Addresses of an object and of its parts, which are only compared. */
struct ahead_parts {
	const void *at[AHEAD_PART_MAX];
	uint32_t count;
};

/* Records in an item, in the order of recording: an epoch's end, the next epoch, a batch. */
enum { AHEAD_STOP, AHEAD_EPOCH, AHEAD_BATCH, AHEAD_EVENT_MAX };

struct ahead_item {
	uint32_t asker; /* number of the asker; 0: this item is free */
	uint64_t order; /* number among all items */
	uint64_t place; /* number among the asker's items, from 1 */
	const void *key, *object; /* queue or future; what was put into it */
	uint32_t taker; /* tid of the thread that took the item; 0: none yet */
	uint64_t begin_ns, end_ns; /* the taker's wait; if it had none, the asker's */
	struct dlprof_event events[AHEAD_EVENT_MAX]; /* kind NONE: no such record */
};

/* Flag of an EPOCH that is recorded already, and announced again for the taker only. */
#define AHEAD_EPOCH_AGAIN (1u << 31)

/* Notes that the loader of DLPROF_BATCH_FN is asked: any thread may then be its prefetcher. */
void ahead_named(void);

/* Returns true if this waiting thread may be such a prefetcher: its wait is not the training's. */
bool ahead_may_be_users(const struct thread *thread);

/*
 * Notes that the thread asks the loader of `stream`, in no other wait. Returns true if the thread's
 * records of that loader are kept from now on, unless ahead_is_own().
 */
bool ahead_asks(struct thread *thread, uint64_t stream);

/* Notes the batch that the thread was given after ahead_asks(). */
void ahead_took(const struct thread *thread, const struct ahead_parts *batch);

/* Keeps a record of a loader that this thread asked. Returns false if it is not to be kept. */
bool ahead_keep(struct thread *thread, const struct dlprof_event *event);

/* Moves a kept EPOCH from its asker to *ret_event, as another thread asks the iterator. */
bool ahead_take_epoch(uint32_t asker, uint64_t stream, struct dlprof_event *ret_event);

/* Returns true if the asker's items are known to be batches. */
bool ahead_is_proven(uint32_t asker);

/* Stops keeping records of a thread that trains itself, or (`doubtful`) hands batches on unseen. */
void ahead_give_up(struct thread *thread, bool doubtful);

/* Returns true if the thread itself trains with its batches, so the kept records are its own. */
bool ahead_is_own(const struct thread *thread);

/* Takes the next kept record of such a thread. Returns false at the end; then nothing is kept. */
bool ahead_next_own(struct thread *thread, struct dlprof_event *ret_event);

/* Returns true if this thread has a batch to hand on. */
bool ahead_has(const struct thread *thread);

/*
 * Notes that the thread is about to put `object` into the queue or future `key`, which holds
 * `count` objects (UINT64_MAX: not known). Returns false if `object` is not followed.
 */
bool ahead_puts(struct thread *thread, const void *key, const void *object,
		const struct ahead_parts *parts, uint64_t count);
void ahead_put_failed(struct thread *thread, const void *key, const void *object);

/* Notes that the thread waited for `object` and took it out. Returns false if it isn't followed. */
bool ahead_takes(struct thread *thread, const void *key, const void *object, uint64_t begin_ns,
		 uint64_t end_ns);

/* Notes that the thread waited for an end of the items, which the library announces. */
void ahead_ends(struct thread *thread, uint64_t begin_ns, uint64_t end_ns);

/*
 * Returns the next item of the thread, once it is known to train with it, or NULL if there is none.
 * The caller gives the item back by ahead_drop().
 */
struct ahead_item *ahead_next(struct thread *thread);
void ahead_drop(struct thread *thread, struct ahead_item *item);

/*
 * Notes that the thread looked for an item in vain; key NULL: it asked whether some future is done.
 * If it looks again at once, that is one wait. A pause between may be a step, or waiting, too.
 */
void ahead_found_none(struct thread *thread, const void *key, uint64_t begin_ns, uint64_t end_ns);

/*
 * Notes a backward pass or an optimizer step of the thread. If it never took a batch, while others
 * ask for batches, it gets them in a way that is not followed: a note says so.
 */
void ahead_trains(struct thread *thread);

/* Called around each wait, to find out whether a thread other than the main one only prefetches. */
void ahead_watch_begin(struct thread *thread);
void ahead_watch_end(struct thread *thread);
