/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - in line, what is called once for every row of an image's pixels.
 *
 * Two readings of the counter around each row are most of what dlprof would take from a training
 * that decodes JPEGs. Inside a Python call that decodes (boundary.c) all is decoding, and what is
 * asked here is only how much of it was the library's. So there the first rows of an image tell how
 * long the caller takes between two of them, for the same work each time, and the others pass
 * untimed: at the image's end, or where the library wants more data, what went by, less what was
 * timed by itself, less so many gaps, was theirs. Wrong in that can only be whose time it was, the
 * library's or its caller's.
 *
 * If nothing is called on the image any more (it is cut off, and given up), its rows since the last
 * pause stay the caller's.
 */
#ifndef ROWS_H
#define ROWS_H

#include "decode/unit.h"
#include "record/activate.h"

#define ROWS_PROBE_COUNT 16

/* Those that passed are counted: up to now, with so many gaps. No more pass. */
void rows_settle(struct thread *thread, uint64_t gap_count);

/* The same where it is not known any more how long they took. */
void rows_drop(struct thread *thread);

/* The call of Python's that decodes is now the one whose frame is at `address`; 0: none is. */
static inline void rows_bound(struct thread *thread, uintptr_t address)
{
	if (unlikely(thread->rows.passing))
		rows_drop(thread);
	thread->rows.image = NULL;
	thread->boundary_address = address;
}

/* A part of `image` ended that was no usual row; NULL: it is not to be gone on with here. */
void rows_begin(struct thread *thread, const struct thread_image *image);

static inline bool rows_are_of(const struct thread *thread, const void *handle)
{
	return thread->rows.passing == handle && thread->frame == thread->rows.frame;
}

/*
 * Before a call about the image behind `handle`: where the last row of it passed, the thread, whose
 * rows have to be settled if the call is no row.
 */
static inline struct thread *rows_passing(const void *handle)
{
	struct thread *thread = thread_self;

	if (likely(thread && rows_are_of(thread, handle) && thread->quick_life == activate_on()))
		return thread;
	return NULL;
}

/* A gap between two rows ends. */
void rows_measure(struct thread *thread, uint64_t now_ticks);

/*
 * Another part of the image that this thread was at last, which is counted already, under the same
 * call as then. False: take unit_begin().
 */
static inline bool rows_time_begin(struct unit *unit, enum decode_library_id library,
				   const void *handle)
{
	struct thread *thread = thread_self;
	const struct thread_image *image;
	uint64_t now_ticks;

	unit->again = false;
	if (unlikely(!thread || thread->quick_life != thread_life))
		return false;
	image = thread->rows.image;
	if (unlikely(!image || image->handle != handle || image->library != library ||
		     !image->counted || thread->frame != thread->rows.frame ||
		     thread->frame->address != thread->rows.address ||
		     thread->frame->address <= (uintptr_t)unit || thread_is_full(thread)))
		return false;
	unit->again = true;
	now_ticks = clock_counter();
	if (thread->rows.bounded && thread->rows.end_ticks)
		rows_measure(thread, now_ticks);
	span_push(&unit->span, thread, now_ticks);
	unit->mark = thread->frame->decoder = unit->span.begin_ticks;
	return true;
}

/* False: nothing has happened, take unit_end_part(). `passes`: the next may pass. */
static inline bool rows_time_end(struct unit *unit, enum decode_row_id row, uint64_t bytes,
				 bool passes)
{
	struct thread *thread = unit->span.thread;
	struct dlprof_counter *counter;
	uint64_t ticks, ns;

	if (!unit->again)
		return false;
	if (unlikely(!activate_on() || thread->frame->address != (uintptr_t)unit ||
		     thread->frame->inner_ticks))
		return unit_end_rarely(unit, row);
	ticks = clock_counter() - unit->span.begin_ticks;
	ns = clock_scaled_ns(ticks);
	if (unlikely(ns >= config.slow_ns))
		return unit_end_rarely(unit, row);
	span_pop(thread, ticks);
	counter = &thread->slot->counters[DLPROF_CLASS_DECODE];
	counter->bytes += bytes;
	counter->ns += ns;
	tally_count(thread->rows.tally, 0, ns, bytes);
	if (!thread->rows.bounded)
		return true;
	thread->rows.end_ticks = passes ? unit->span.begin_ticks + ticks : 0;
	thread->rows.inner_ticks = thread->frame->inner_ticks;
	if (passes && !thread->rows.probe_count) {
		thread->rows.input_bytes = 0;
		thread->rows.passing = thread->rows.image->handle;
	}
	return true;
}

#endif
