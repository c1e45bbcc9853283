/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span.h - times a call, so that each nanosecond counts for one class only.
 *
 * The time of an inner timed call does not count for the outer one. Decoders longjmp() through
 * wrappers, so a frame counts as gone once a new one has the same or a higher stack address.
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
	/* data file that also gets the call's time and bytes; -1: none */
	int fd;
	const char *path;	/* NULL: the caller does not know the file */
	/* another tally that also gets the call; NULL: none */
	struct dlprof_tally *tally;
	uint64_t own_ns; /* time without inner calls; set by span_end() of a recorded call */
	const char *name;
	/* the call's time counts, but the call itself does not */
	bool uncounted;
};

/* Begins a span in rare cases: frames left by longjmp(), no thread, no room, no CPU counter. */
bool span_begin_rarely(struct span *span, enum dlprof_class class);

/* The thread must have room for a frame, and none at or below the address of `span`. */
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

	outer->inner_ticks += ticks;	/* also for frames[0], which saves a test */
}

/* Begins a span. After false, do not call span_end(). The caller sets fd, path, name, uncounted. */
static inline bool span_begin(struct span *span, enum dlprof_class class)
{
	struct thread *thread = thread_self;

	if (unlikely(!thread || thread->life != thread_life || thread->busy || !clock_scale ||
		     thread_is_full(thread) || thread->frame->address <= (uintptr_t)span))
		return span_begin_rarely(span, class);
	/* The call may drive the counter out of the caches. */
	__builtin_prefetch(&thread->slot->counters[class], 1);
	span->class = class;
	span->tally = NULL;
	span_push(span, thread, clock_counter());
	return true;
}

/* Begins a span without a file, if this thread loads a batch. */
bool span_begin_in_load(struct span *span, enum dlprof_class class);

void span_end(struct span *span, uint64_t bytes, bool failed);

/* Ends a call that took until `now_ticks`. The time since then was spent by dlprof. */
void span_end_at(struct span *span, uint64_t bytes, bool failed, uint64_t now_ticks);

/* Removes frames at or below `address`, whose functions have returned. */
void span_unwind(struct thread *thread, uintptr_t address);

void span_cancel(struct span *span);
