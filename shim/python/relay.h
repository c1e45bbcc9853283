/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay.h - loaders that a thread asks ahead of the training, on behalf of an iterator (outer) that
 * the training asks.
 *
 * What the inner loader hands to that thread becomes a batch when the outer one hands it on: with
 * the load that it had, and with the wait of the training instead of the thread's. Threads that
 * nobody knows to be of an outer iterator are told as ever, and warned of. Under the GIL.
 */
#ifndef RELAY_H
#define RELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "batch/consumer.h"
#include "record/thread.h"

struct relay;

/* This thread begins to ask for `outer`, and ends. NULL: there are too many. */
struct relay *relay_enter(const void *outer, const char *kind);
void relay_leave(struct relay *relay, const void *outer);

/* Of the outer iterator for which this thread asks. NULL: for none. */
const char *relay_kind_here(void);

/* For whom it does; also for the loader that the user named, which says nothing of who asks. */
struct relay *relay_here(const struct thread *thread);

/* The user's loader is asked. */
void relay_named(void);

/*
 * Whether the training has yet to be told that this loader's batches are now of the outer iterator;
 * then relay_facts(). It tells that itself: only of one thread are records read in their order.
 */
bool relay_is_new(struct relay *relay, const struct consumer *consumer);
void relay_facts(struct relay *relay, const struct consumer *consumer,
		 const struct consumer_facts *facts);

/* The inner loader handed out a batch, or came to its end, and nobody was told of that wait. */
void relay_pass(struct relay *relay, struct consumer *consumer, uint32_t task);
void relay_end(struct relay *relay, struct consumer *consumer);

/*
 * The outer iterator was asked at `begin_ns` and handed on a batch, or nothing: because it is at
 * its end, or it raised. False: what it is made of is not followed, so that is still to be told.
 */
enum relay_answer { RELAY_BATCH, RELAY_ENDED, RELAY_FAILED };
bool relay_tell(const void *outer, uint64_t begin_ns, enum relay_answer answer);

/* Around a wait of a thread that is not the main one: is it the training, or is that elsewhere? */
void relay_watch_begin(struct thread *thread);
void relay_watch_end(struct thread *thread);

#endif
