/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.h - time a call of a decode library, and count the image that it is part of once.
 *
 * The outermost decoder owns the time: zlib inside libpng, or libjpeg inside libtiff, is neither
 * timed nor counted by itself. What a call reads through libc is read time, as everywhere.
 *
 * An image that takes many calls is known by the library's handle: what its calls took before its
 * width is known is added to its tally later. Handles are kept per thread, the last few of them.
 */
#ifndef UNIT_H
#define UNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "activate.h"
#include "config.h"
#include "hooks/decode.h"
#include "span.h"
#include "tally.h"

struct unit {
	struct span span;	/* first: a frame's address is the span's and the unit's */
	uint64_t mark;		/* what tells this unit from what lies on the stack later */
	enum decode_library_id library;
	const void *input;	/* the wrapper's own: where the data stood before the call */
	uint64_t input_bytes;
	bool again;		/* begun by unit_begin_again() */
};

/* What a call found out. Zero: nothing. */
struct unit_result {
	const char *format;	/* NULL: the library's usual one */
	uint32_t width;
	uint32_t height;
	uint64_t bytes;		/* that came in */
	bool counted;		/* an image, a frame, a stream was decoded by this */
	bool failed;
};

/* A field of a struct whose layout is part of a library's, or the kernel's, ABI. */
#define FIELD(type, struct_at, offset) (*(const type *)((const char *)(struct_at) + (offset)))

/* False: not recorded, or part of another decoder's work. Then there must be no end. */
bool unit_begin(struct unit *unit, enum decode_row_id row);

/* A call that is a whole image, or one of a library that has no images. */
void unit_end(struct unit *unit, struct unit_result result);

/* A call that is part of the image behind `handle`. */
void unit_end_part(struct unit *unit, const void *handle, struct unit_result result);

/* The next part is of a new image, if there was one before that was counted. */
void unit_forget(struct unit *unit, const void *handle);

/*
 * In line, for what is called once for every row of pixels: another part of the image that this
 * thread was at last, which is counted already, under the same call as then. False: take
 * unit_begin().
 */
static inline bool unit_begin_again(struct unit *unit, enum decode_library_id library,
				    const void *handle)
{
	struct thread *thread = thread_self;
	const struct thread_image *image;

	unit->again = false;
	if (unlikely(!thread || thread->quick_life != thread_life))
		return false;
	image = thread->again.image;
	if (unlikely(!image || image->handle != handle || image->library != library ||
		     !image->counted || thread->frame != thread->again.frame ||
		     thread->frame->address != thread->again.address ||
		     thread->frame->address <= (uintptr_t)unit || thread_is_full(thread)))
		return false;
	unit->again = true;
	span_push(&unit->span, thread, clock_counter());
	unit->mark = thread->frame->decoder = unit->span.begin_ticks;
	return true;
}

/* False: there was more to it; nothing has happened, take unit_end_part(). */
bool unit_end_rarely(struct unit *unit, enum decode_row_id row);

static inline bool unit_end_again(struct unit *unit, enum decode_row_id row, uint64_t bytes)
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
	tally_count(thread->again.image->tally, 0, ns, bytes);
	return true;
}

/* Whether the image behind `handle` has been counted. */
bool unit_is_counted(const struct unit *unit, const void *handle);

#endif
