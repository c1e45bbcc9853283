/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ahead.h - loaders that a thread asks ahead of the training, on behalf of an iterator (outer) that
 * the training asks.
 *
 * What would be recorded of the inner loader in that thread is kept until the outer iterator hands
 * the batch on: it then has the load that it had, and the wait of the training instead of the
 * thread's. Threads that we cannot link to an outer iterator are recorded normally, with a warning.
 * Under the GIL.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/thread.h"

struct ahead;

/* This thread begins, and ends, to ask on behalf of `outer`. */
void ahead_enter(const void *outer, const char *kind);
void ahead_leave(void);

/* Whether this thread asks on behalf of an outer iterator. */
bool ahead_is_here(void);

/* The user's own loader is asked: a thread may prefetch for it, and we cannot know which. */
void ahead_named(void);

/* Whether this thread, which waits, may be such a thread: then this is not the training's wait. */
bool ahead_may_be_users(const struct thread *thread);

/*
 * A record of a loader that this thread asked. True: it was kept back, since it is not the
 * training's.
 */
bool ahead_take(const struct thread *thread, const struct dlprof_event *event);

/*
 * The outer iterator handed on a batch, or nothing: because it is at its end, or it raised. NULL:
 * what it is made of is not followed, so its own wait is still to be recorded. Else ahead_next()
 * gives the records that became the training's by that, until it is false; `ret_waits`: it is the
 * one of the training's wait, and no more follow.
 */
enum ahead_answer { AHEAD_BATCH, AHEAD_ENDED, AHEAD_FAILED };
struct ahead *ahead_of(const void *outer);
bool ahead_next(struct ahead *ahead, enum ahead_answer answer, struct dlprof_event *ret_event,
		bool *ret_waits);

/*
 * Around a wait of a thread that is not the main one: is this thread the training, or another one?
 */
void ahead_watch_begin(struct thread *thread);
void ahead_watch_end(struct thread *thread);
