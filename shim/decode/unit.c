/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/unit.h"

#include <errno.h>

#include "base/note.h"
#include "base/sys.h"
#include "batch/scope.h"

const struct decode_library table_libraries[DECODE_LIBRARY_MAX] = {
#define DECODER(id, name, format, sort, mark, first, second) {name, format, DECODE_SORT_##sort},
#include "decode/libraries.def"
};

const struct wrap_library table_marks[DECODE_LIBRARY_MAX] = {
#define DECODER(id, name, format, sort, mark, first, second) {mark, {first, second}},
#include "decode/libraries.def"
};

void table_reached(int library)
{
	static uint64_t noted;
	const struct decode_library *reached = &table_libraries[library];

	if (reached->sort == DECODE_SORT_IMAGE || reached->sort == DECODE_SORT_STREAM)
		scope_decoders_reached();
	if (noted & UINT64_C(1) << library)
		return;
	noted |= UINT64_C(1) << library;
	note_add('d', reached->name);
}

#define SAME_STACK_BYTES 16384

/* Makes an invalid request (-1): the kernel reads eight bytes before it rejects the request. */
bool unit_can_read(const void *address)
{
	return sys_call4(SYS_rt_sigprocmask, -1, address, NULL, sizeof(uint64_t)) != -EFAULT;
}

/* Returns true inside another decoder's call. If longjmp() left that call, its mark is gone. */
static OFTEN bool is_inner(const struct thread *thread, const struct unit *unit)
{
	for (const struct thread_frame *frame = thread->frame; frame > thread->frames; frame--) {
		const uint64_t *mark;

		if (!frame->decoder || frame->address <= (uintptr_t)unit)
			continue;
		mark = &((const struct unit *)frame->address)->mark;
		if ((frame->address - (uintptr_t)unit < SAME_STACK_BYTES || unit_can_read(mark)) &&
		    *mark == frame->decoder)
			return true;
	}
	return false;
}

/*
 * Returns true if the call is a part of an image that is counted elsewhere: by the Python call
 * around it (Pillow's for a PNG, HDF5's for a data set), or by the image's first call.
 */
static OFTEN bool is_part_of_image(const struct thread *thread)
{
	const struct thread_image *image = thread->started;

	return thread->boundary_address ||
	       (image && image->place.frame_address == thread->frame->address &&
		image->place.load.task == thread->load.task);
}

OFTEN bool unit_begin(struct unit *unit, enum decode_library_id id, const char *name)
{
	const struct decode_library *library = &table_libraries[id];
	struct thread *thread = thread_get();

	if (unlikely(!thread || thread->import_depth))
		return false;
	unit->library = id;
	unit->span.fd = -1;
	unit->span.path = NULL;
	unit->span.name = name;
	unit->span.uncounted = true;
	unit->span.own_ns = 0;
	unit->only_bytes = false;
	if (library->sort == DECODE_SORT_INPUT)
		return span_begin(&unit->span, DLPROF_CLASS_READ);
	if (library->sort == DECODE_SORT_PACKER && is_part_of_image(thread)) {
		unit->span.thread = thread;
		unit->only_bytes = thread->boundary_address && thread->boundary_inflates;
		return unit->only_bytes;
	}
	if (is_inner(thread, unit) || !span_begin(&unit->span, DLPROF_CLASS_DECODE))
		return false;
	unit->mark = thread->frame->decoder = unit->span.begin_ticks;
	return true;
}

OFTEN struct dlprof_tally *unit_tally(const struct unit *unit, const struct unit_result *result)
{
	struct thread *thread = unit->span.thread;
	const struct decode_library *library = &table_libraries[unit->library];
	const char *format = result->format ? result->format : library->format;
	uint64_t class = result->width ? tally_width_class(result->width) : 0;
	struct thread_decoder *last =
		&thread->decoders[(unit->library ^ class / 128) % THREAD_DECODER_MAX];

	thread->decoded = last;
	if (likely(last->tally && last->library == library->name && last->format == format &&
		   last->class == class))
		return last->tally;
	last->tally = tally_named(thread, DLPROF_TALLY_DECODE, library->name, format, class);
	last->library = library->name;
	last->format = format;
	last->class = class;
	last->around_library = NULL;
	return last->tally;
}

/* Returns false for a call without an image or known width, which adds only time. */
static bool has_tally(const struct unit *unit, const struct unit_result *result)
{
	return table_libraries[unit->library].sort != DECODE_SORT_INPUT &&
	       (result->counted || result->width ||
		table_libraries[unit->library].sort != DECODE_SORT_IMAGE);
}

/* Adds only bytes. The enclosing Python call, which unpacks, adds the time and the count. */
static void add_bytes(const struct unit *unit, const struct unit_result *result)
{
	struct dlprof_tally *tally = unit_tally(unit, result);

	if (!tally)
		return;
	tally->bytes += result->bytes;
	tally->pixels += result->made_bytes;
}

void unit_end(struct unit *unit, struct unit_result result)
{
	if (unlikely(!activate_on()))
		return;
	if (unlikely(unit->only_bytes)) {
		add_bytes(unit, &result);
		return;
	}
	unit->span.uncounted = !result.counted;
	if (has_tally(unit, &result))
		unit->span.tally = unit_tally(unit, &result);
	span_end(&unit->span, result.bytes, result.failed);
	if (result.counted && unit->span.tally)
		unit->span.tally->pixels += (uint64_t)result.width * result.height;
	if (result.made_bytes && unit->span.tally)
		unit->span.tally->pixels += result.made_bytes;
}
