/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span.h - times calls, so that each nanosecond of a thread counts for one class only.
 *
 * The time of a timed call within another one does not count for the outer call. Decoders may leave
 * wrappers by longjmp(), so a frame is gone once a call begins at or above its stack address.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "dlprof/event.h"
#include "record/thread.h"

struct span {
	struct thread *thread;	/* NULL: the span has not begun, but begin_ticks is set */
	uint64_t begin_ticks;
	enum dlprof_class class;
	/* the data file whose tally gets the call's time and bytes, too; -1: none */
	int fd;
	const char *path;	/* NULL: the caller does not know the file */
	/* one more tally that gets the call; NULL: none */
	struct dlprof_tally *tally;
	uint64_t own_ns; /* time without inner calls; set by span_end() of a recorded call */
	const char *name;
	/* true: add the call's time, but do not count the call */
	bool uncounted;
};

/* Does span_begin() after a longjmp(), and without a thread, room or a readable CPU counter. */
bool span_begin_rarely(struct span *span, enum dlprof_class class);

/* Adds a frame. There must be room for it, and no frame at or below the address of `span`. */
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

	outer->inner_ticks += ticks;	/* frames[0] gets the time, too, to save a test */
}

/* Begins a span; the caller sets fd, path, name, uncounted. After false, do not call span_end(). */
static inline bool span_begin(struct span *span, enum dlprof_class class)
{
	struct thread *thread = thread_self;

	if (unlikely(!thread || thread->life != thread_life || thread->busy || !clock_scale ||
		     thread_is_full(thread) || thread->frame->address <= (uintptr_t)span))
		return span_begin_rarely(span, class);
	/* By the end of the call, the counter may have left the caches. */
	__builtin_prefetch(&thread->slot->counters[class], 1);
	span->class = class;
	span->tally = NULL;
	span_push(span, thread, clock_counter());
	return true;
}

/* Begins a span without a file, if this thread loads a batch. */
bool span_begin_in_load(struct span *span, enum dlprof_class class);

void span_end(struct span *span, uint64_t bytes, bool failed);

/* Ends a span at `now_ticks`. The time since then was spent by dlprof itself. */
void span_end_at(struct span *span, uint64_t bytes, bool failed, uint64_t now_ticks);

/* Removes the frames at or below `address`: the functions of these frames have returned. */
void span_unwind(struct thread *thread, uintptr_t address);

void span_cancel(struct span *span);
