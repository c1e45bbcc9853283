/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span.h - times one call once.
 *
 * Time in calls that are timed themselves belongs to these, so that a nanosecond has one class. The
 * guard remembers stack addresses, not a depth, because decoders longjmp() through wrappers: a
 * frame at or below the address of a new one is gone, whatever it left behind.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "dlprof/event.h"
#include "record/thread.h"

struct span {
	struct thread *thread;	/* NULL: not begun, though begin_ticks is set */
	uint64_t begin_ticks;
	enum dlprof_class class;
	int fd;			/* data file that gets time and bytes, too; -1: none */
	const char *path;	/* path of the file if the caller knows it, or NULL */
	struct dlprof_tally *tally; /* tally that counts it, too; NULL, or set after span_begin() */
	uint64_t own_ns;	/* set by span_end(), if it counted */
	const char *name;	/* name of the function */
	bool uncounted;		/* its time counts, but it is no operation of its own: a close */
};

/* span_begin() for rare cases: calls left by longjmp(), no thread, room or counter. */
bool span_begin_rarely(struct span *span, enum dlprof_class class);

/* Pushes a frame. The thread's frames at or below `span` are gone already, and there is room. */
static inline void span_push(struct span *span, struct thread *thread, uint64_t now_ticks)
{
	struct thread_frame *frame = ++thread->frame;

	span->thread = thread;
	frame->address = (uintptr_t)span;
	frame->inner_ticks = 0;
	frame->decoder = 0;
	span->begin_ticks = now_ticks;
}

static inline void span_pop(struct thread *thread, uint64_t ticks)
{
	struct thread_frame *outer = --thread->frame;

	outer->inner_ticks += ticks;	/* frames[0] takes it, too, which saves a question */
}

/*
 * Starts the clock; the caller sets fd, path, name and uncounted, before or after. False: not
 * recorded, and span_end() must not be called.
 */
static inline bool span_begin(struct span *span, enum dlprof_class class)
{
	struct thread *thread = thread_self;

	if (unlikely(!thread || thread->life != thread_life || thread->busy || !clock_scale ||
		     thread_is_full(thread) || thread->frame->address <= (uintptr_t)span))
		return span_begin_rarely(span, class);
	/* The end adds to this, which the call itself may drive out of the caches. */
	__builtin_prefetch(&thread->slot->counters[class], 1);
	span->class = class;
	span->tally = NULL;
	span_push(span, thread, clock_counter());
	return true;
}

/* The same only while this thread loads a batch; fd, path and uncounted are none. */
bool span_begin_in_load(struct span *span, enum dlprof_class class);

/* Stops the clock and counts. `bytes` is how much came in. */
void span_end(struct span *span, uint64_t bytes, bool failed);

/* The same for a call that was over at now_ticks: time since then was ours. */
void span_end_at(struct span *span, uint64_t bytes, bool failed, uint64_t now_ticks);

/* Removes frames at or below `address`, which are gone. */
void span_unwind(struct thread *thread, uintptr_t address);

/* Instead of the end: the call does not count. */
void span_cancel(struct span *span);
