/* SPDX-License-Identifier: Apache-2.0 */
/* jpeg.h - what the wrappers of libjpeg do before and after a call; for decode.c, which has them.
 */
#ifndef JPEG_H
#define JPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hooks/unit.h"
#include "sys.h"

/* image_width and image_height lie before all that 6b, 7, 8 and turbo differ in. */
#define JPEG_SOURCE(info) FIELD(const struct jpeg_source *, info, 40)
#define JPEG_WIDTH(info)  FIELD(uint32_t, info, 48)
#define JPEG_HEIGHT(info) FIELD(uint32_t, info, 52)
#define JPEG_HEADER_OK    1

struct jpeg_source {
	const uint8_t *next;
	size_t left;
};

static inline bool jpeg_begun(struct unit *unit, const void *info)
{
	const struct jpeg_source *source = JPEG_SOURCE(info);

	unit->input = source ? source->next : NULL;
	unit->input_bytes = source ? source->left : 0;
	return true;
}

static bool jpeg_begin(struct unit *unit, enum decode_row_id row, const void *info)
{
	return unit_begin(unit, row) && jpeg_begun(unit, info);
}

static inline bool jpeg_row_begin(struct unit *unit, enum decode_row_id row, const void *info)
{
	return likely(unit_begin_row(unit, DECODE_JPEG, info)) ? jpeg_begun(unit, info)
							       : jpeg_begin(unit, row, info);
}

/* What came from the buffer that was there before; a file's source refills it, and is read time. */
static inline uint64_t jpeg_bytes(const struct unit *unit, const void *info)
{
	const struct jpeg_source *source = JPEG_SOURCE(info);
	uintptr_t taken = source ? (uintptr_t)source->next - (uintptr_t)unit->input : 0;

	return taken <= unit->input_bytes ? taken : unit->input_bytes;
}

static void jpeg_end(struct unit *unit, const void *info, struct unit_result result)
{
	result.bytes = jpeg_bytes(unit, info);
	unit_end_part(unit, info, result);
}

/* A file was read in it, it was slow, it lacks data or is the first. */
static RARELY void jpeg_row_end_rarely(struct unit *unit, const void *info, bool counted,
				       uint32_t rows)
{
	if (!counted)
		jpeg_end(unit, info, NO_BITS);
	unit_end_row_rarely(unit, !counted, rows == 0);
}

static inline void jpeg_row_end(struct unit *unit, enum decode_row_id row, const void *info,
				uint32_t rows)
{
	bool counted = unit_end_row(unit, row, jpeg_bytes(unit, info));

	if (unlikely(!counted || !rows))
		jpeg_row_end_rarely(unit, info, counted, rows);
}

static void jpeg_header_end(struct unit *unit, const void *info, int found)
{
	struct unit_result result = {0};

	unit_forget(unit, info);
	if (found == JPEG_HEADER_OK) {
		result.width = JPEG_WIDTH(info);
		result.height = JPEG_HEIGHT(info);
	}
	jpeg_end(unit, info, result);
}

#endif
