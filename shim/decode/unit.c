/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/unit.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/sys.h"
#include "decode/rows.h"
#include "hooks/hook.h"
#include "record/activate.h"
#include "record/tally.h"

#define SAME_STACK_BYTES 16384

/* The kernel reads it for us, and then finds that it is asked for nothing. */
static bool is_readable(const uint64_t *address)
{
	return sys_call4(SYS_rt_sigprocmask, -1, address, NULL, sizeof(*address)) != -EFAULT;
}

/*
 * Called from inside another decoder's call? Its frame must still be there: after a longjmp a frame
 * of old may lie above this one, but not with its mark in it for long. It may also lie on a stack
 * that is gone, a coroutine's.
 */
static OFTEN bool is_inner(const struct thread *thread, const struct unit *unit)
{
	for (const struct thread_frame *frame = thread->frame; frame > thread->frames; frame--) {
		const uint64_t *mark;

		if (!frame->decoder || frame->address <= (uintptr_t)unit)
			continue;
		mark = &((const struct unit *)frame->address)->mark;
		if ((frame->address - (uintptr_t)unit < SAME_STACK_BYTES || is_readable(mark)) &&
		    *mark == frame->decoder)
			return true;
	}
	return false;
}

static OFTEN void describe(struct unit *unit, enum decode_row_id row)
{
	unit->library = decode_rows[row].library;
	unit->span.fd = -1;
	unit->span.path = NULL;
	unit->span.name = decode_name(row);
	unit->span.hook = HOOK_ID_MAX + row;
	unit->span.uncounted = true;
	unit->span.own_ns = 0;
}

bool unit_end_rarely(struct unit *unit, enum decode_row_id row)
{
	describe(unit, row);
	unit->span.class = DLPROF_CLASS_DECODE;
	unit->span.tally = NULL;
	return false;
}

OFTEN bool unit_begin(struct unit *unit, enum decode_row_id row)
{
	const struct decode_library *library = &decode_libraries[decode_rows[row].library];
	struct thread *thread = thread_get();

	if (unlikely(!thread || thread->import_depth))
		return false;
	describe(unit, row);
	if (library->sort == DECODE_SORT_INPUT)
		return span_begin(&unit->span, DLPROF_CLASS_READ);
	/* What Pillow inflates is a PNG, and HDF5 a data set: the caller says so, and has the time.
	 */
	if (library->sort == DECODE_SORT_PACKER && thread->boundary_address)
		return false;
	if (is_inner(thread, unit) || !span_begin(&unit->span, DLPROF_CLASS_DECODE))
		return false;
	unit->mark = thread->frame->decoder = unit->span.begin_ticks;
	return true;
}

/* The tally of this library, format and width: mostly the one it was the last time. */
static OFTEN struct dlprof_tally *tally_of(struct thread *thread, const struct unit *unit,
					   const struct unit_result *result)
{
	const struct decode_library *library = &decode_libraries[unit->library];
	const char *format = result->format ? result->format : library->format;
	uint64_t class = result->width ? tally_width_class(result->width) : 0;
	struct thread_decoder *last = &thread->decoders[unit->library];

	static_assert(DECODE_LIBRARY_MAX <= THREAD_DECODER_MAX, "one place a library");
	if (likely(last->tally && last->format == format && last->class == class))
		return last->tally;
	last->tally = tally_named(thread, DLPROF_TALLY_DECODE, library->name, format, class);
	last->format = format;
	last->class = class;
	return last->tally;
}

/* An image of no known width that was not decoded belongs to no tally; its time still counts. */
static bool has_tally(const struct unit *unit, const struct unit_result *result)
{
	return decode_libraries[unit->library].sort != DECODE_SORT_INPUT &&
	       (result->counted || result->width ||
		decode_libraries[unit->library].sort != DECODE_SORT_IMAGE);
}

void unit_end(struct unit *unit, struct unit_result result)
{
	if (unlikely(!activate_on()))
		return;
	unit->span.uncounted = !result.counted;
	if (has_tally(unit, &result))
		unit->span.tally = tally_of(unit->span.thread, unit, &result);
	span_end(&unit->span, result.bytes, result.failed);
	if (result.counted && unit->span.tally)
		unit->span.tally->pixels += (uint64_t)result.width * result.height;
}

static OFTEN struct thread_image *image_of(struct thread *thread, enum decode_library_id library,
					   const void *handle)
{
	for (int i = 0; i < THREAD_IMAGE_MAX; i++)
		if (thread->images[i].handle == handle && thread->images[i].library == library)
			return &thread->images[i];
	return NULL;
}

static OFTEN struct thread_image *add_image(struct thread *thread, enum decode_library_id library,
					    const void *handle)
{
	struct thread_image *image = &thread->images[thread->image_next++ % THREAD_IMAGE_MAX];

	memset(image, 0, sizeof(*image));
	image->handle = handle;
	image->library = library;
	return image;
}

OFTEN void unit_end_part(struct unit *unit, const void *handle, struct unit_result result)
{
	struct thread *thread = unit->span.thread;
	struct thread_image *image;

	if (unlikely(!activate_on()))
		return;
	image = image_of(thread, unit->library, handle);
	if (!image)
		image = add_image(thread, unit->library, handle);
	if (!image->tally && (result.width || result.counted)) {
		image->tally = tally_of(thread, unit, &result);
		image->pixels = (uint64_t)result.width * result.height;
		tally_add(image->tally, 0, image->pending_ns, image->pending_bytes);
	}
	unit->span.tally = image->tally;
	unit->span.uncounted = !result.counted;
	span_end(&unit->span, result.bytes, result.failed);
	if (!image->tally) {
		image->pending_ns += unit->span.own_ns;
		image->pending_bytes += result.bytes;
	} else if (result.counted) {
		image->tally->pixels += image->pixels;
	}
	image->counted |= result.counted;
	rows_begin(thread, image->tally ? image : NULL);
}

OFTEN void unit_forget(struct unit *unit, const void *handle)
{
	struct thread_image *image = image_of(unit->span.thread, unit->library, handle);

	if (image && (image->counted || image->tally))
		image->handle = NULL;
}

bool unit_is_counted(const struct unit *unit, const void *handle)
{
	const struct thread_image *image = image_of(unit->span.thread, unit->library, handle);

	return image && image->counted;
}
