/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span.h - times a call, so that each nanosecond counts for one class only.
 *
 * Time of timed calls within a call belongs to the inner ones. Frames are identified by stack
 * addresses, not by a depth, because decoders longjmp() through wrappers: when a new frame is
 * pushed, all frames at or below its address are gone, whatever they left behind.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "dlprof/event.h"
#include "record/thread.h"

struct span {
	struct thread *thread;	/* NULL: the span was not begun, though begin_ticks is set */
	uint64_t begin_ticks;
	enum dlprof_class class;
	/* descriptor of the data file that also gets the time and bytes; -1: none */
	int fd;
	const char *path;	/* path of the file, or NULL if the caller does not know it */
	/* another tally that counts the call, or NULL */
	struct dlprof_tally *tally;
	uint64_t own_ns; /* time without inner calls; set by span_end() of a recorded call */
	const char *name;	/* name of the function */
	/* the call's time counts, but the call is no operation of its own, such as a close() */
	bool uncounted;
};

/* Does span_begin()'s rare cases: frames left by longjmp(), no thread, no room, no counter. */
bool span_begin_rarely(struct span *span, enum dlprof_class class);

/* Pushes a frame. There must be room, and no frame of the thread at or below `span`. */
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

	outer->inner_ticks += ticks;	/* frames[0] collects time, too, which saves a test */
}

/*
 * Starts the clock; the caller sets fd, path, name and uncounted, before or after. Returns false if
 * the call is not recorded; then span_end() must not be called.
 */
static inline bool span_begin(struct span *span, enum dlprof_class class)
{
	struct thread *thread = thread_self;

	if (unlikely(!thread || thread->life != thread_life || thread->busy || !clock_scale ||
		     thread_is_full(thread) || thread->frame->address <= (uintptr_t)span))
		return span_begin_rarely(span, class);
	/* Prefetch the counter for span_end(): the call itself may drive it out of the caches. */
	__builtin_prefetch(&thread->slot->counters[class], 1);
	span->class = class;
	span->tally = NULL;
	span_push(span, thread, clock_counter());
	return true;
}

/* Does span_begin() if this thread loads a batch; sets fd and path to none, uncounted to false. */
bool span_begin_in_load(struct span *span, enum dlprof_class class);

/* Stops the clock and counts the call. `bytes` is how much was read. */
void span_end(struct span *span, uint64_t bytes, bool failed);

/* Does span_end() for a call that ended at now_ticks: the time since then was ours. */
void span_end_at(struct span *span, uint64_t bytes, bool failed, uint64_t now_ticks);

/* Removes frames at or below `address`, whose functions have returned. */
void span_unwind(struct thread *thread, uintptr_t address);

/* Drops a span, instead of span_end(): the call does not count. */
void span_cancel(struct span *span);
