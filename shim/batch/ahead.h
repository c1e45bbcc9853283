/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ahead.h - batches that one thread (the asker) takes from a loader, and another (the taker) gets
 * from it through a queue or a future.
 *
 * What would be recorded of the loader in the asker is kept until the taker has the batch: it then
 * has the load that it had, and the wait of the taker instead of the asker's. The asker puts each
 * batch as an item of its own, before it asks for the next one. That its items are batches, and not
 * results of a training in the asker, is proven once: the very batch is in one, or the taker runs
 * backward passes, or the library is known. Where nothing is proven, the asker's records are its
 * own. Under the GIL.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/thread.h"

#define AHEAD_PART_MAX 24

/* Addresses of an object and of what is in it, only to be compared. */
struct ahead_parts {
	const void *at[AHEAD_PART_MAX];
	uint32_t count;
};

/* What the taker gets in one item: the end of an epoch, the next epoch, a batch. */
enum { AHEAD_STOP, AHEAD_EPOCH, AHEAD_BATCH, AHEAD_EVENT_MAX };

struct ahead_item {
	uint32_t asker; /* 0: there is none here */
	uint64_t order; /* among all items */
	uint64_t place; /* among those of its asker, from 1 */
	const void *key, *object; /* the queue or the future; what was put into it */
	uint32_t taker; /* the thread that has it; 0: none yet */
	uint64_t begin_ns, end_ns; /* of the taker's wait; without one, of the asker's */
	struct dlprof_event events[AHEAD_EVENT_MAX]; /* of kind NONE: it is not in it */
};

/* Of an EPOCH that was recorded before: it only says so to the taker. */
#define AHEAD_EPOCH_AGAIN (1u << 31)

/* The user's own loader is asked: a thread may prefetch for it, and we cannot know which. */
void ahead_named(void);

/* Whether this thread, which waits, may be such a thread: then this is not the training's wait. */
bool ahead_may_be_users(const struct thread *thread);

/*
 * The thread asks the loader of that stream, in no other wait. True: what is recorded of it is kept
 * from now on, unless ahead_is_own() says that it is its own.
 */
bool ahead_asks(struct thread *thread, uint64_t stream);

/* ... and this is the batch that it was given. */
void ahead_took(const struct thread *thread, const struct ahead_parts *batch);

/* A record of a loader that this thread asked. True: it was kept. */
bool ahead_keep(struct thread *thread, const struct dlprof_event *event);

/* Another thread asks the iterator that this asker made: the epoch of that is not the asker's. */
bool ahead_take_epoch(uint32_t asker, uint64_t stream, struct dlprof_event *ret_event);

/* Whether items of that asker are known to be batches. */
bool ahead_is_proven(uint32_t asker);

/* The thread trains with what it asked for; or, `doubtful`, where that goes cannot be followed. */
void ahead_give_up(struct thread *thread, bool doubtful);

/* Whether it turned out that what is kept of this thread is its own. */
bool ahead_is_own(const struct thread *thread);

/* The next of that. False: that was all, and nothing is kept any more. */
bool ahead_next_own(struct thread *thread, struct dlprof_event *ret_event);

/* Whether this thread has something to hand on. */
bool ahead_has(const struct thread *thread);

/*
 * It is about to put `object` into the queue, or the future, `key`, where there are so many by now
 * (UINT64_MAX: not known). False: it is nothing that is followed.
 */
bool ahead_puts(struct thread *thread, const void *key, const void *object,
		const struct ahead_parts *parts, uint64_t count);
void ahead_put_failed(struct thread *thread, const void *key, const void *object);

/* The thread took that out, for which it waited. False: it is nothing of ours. */
bool ahead_takes(struct thread *thread, const void *key, const void *object, uint64_t begin_ns,
		 uint64_t end_ns);

/* The library says that this thread has come to the end, for which it waited. */
void ahead_ends(struct thread *thread, uint64_t begin_ns, uint64_t end_ns);

/*
 * The next item that the thread has, once it is known to train with it; to be given back by
 * ahead_drop(). NULL: there is none.
 */
struct ahead_item *ahead_next(struct thread *thread);
void ahead_drop(struct thread *thread, struct ahead_item *item);

/*
 * The thread looked for an item and there was none; key NULL: whether some future is done. If it
 * looks again at once that is one wait. If it does something else before, that may be waiting, too.
 */
void ahead_found_none(struct thread *thread, const void *key, uint64_t begin_ns, uint64_t end_ns);

/*
 * The thread runs a backward pass, or an optimizer. Where it goes on to without ever having had a
 * batch, and others ask for them, it gets them in a way that is not followed.
 */
void ahead_trains(struct thread *thread);

/*
 * Around a wait of a thread that is not the main one: is this thread the training, or another one?
 */
void ahead_watch_begin(struct thread *thread);
void ahead_watch_end(struct thread *thread);
