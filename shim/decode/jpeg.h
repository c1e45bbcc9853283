/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jpeg.h - libjpeg's calls. image_width and image_height lie before all that 6b, 7, 8 and turbo
 * differ in.
 */
#ifndef JPEG_H
#define JPEG_H

#include "decode/decode.h"
#include "decode/rows.h"
#include "decode/unit.h"

#define JPEG_SOURCE(info) FIELD(const struct jpeg_source *, info, 40)
#define JPEG_WIDTH(info)  FIELD(uint32_t, info, 48)
#define JPEG_HEIGHT(info) FIELD(uint32_t, info, 52)
#define JPEG_HEADER_OK	  1

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

/* What came from the buffer that was there before; a file's source refills it, and is read time. */
static inline uint64_t jpeg_taken(const struct jpeg_source *source, const void *before,
				  uint64_t before_bytes)
{
	uintptr_t taken = (uintptr_t)source->next - (uintptr_t)before;

	return likely(taken <= before_bytes) ? taken : before_bytes;
}

/* What the row took that passed last: seen at the next call, so that none is made after a row. */
static inline void jpeg_pass(struct thread *thread, const void *info)
{
	const struct jpeg_source *source = JPEG_SOURCE(info);
	struct thread_rows *rows = &thread->rows;

	if (unlikely(!source))
		return;
	rows->passed_bytes += jpeg_taken(source, rows->input, rows->input_bytes);
	rows->input = source->next;
	rows->input_bytes = source->left;
}

/* After a row that was none: the library wants more data first. */
static RARELY void jpeg_pause(void)
{
	struct thread *thread = thread_self;

	if (!thread || !thread->rows.passing || thread->quick_life != activate_on())
		return;
	jpeg_pass(thread, thread->rows.passing);
	rows_settle(thread, thread->rows.passed_count);
}

static bool jpeg_begin(struct unit *unit, enum decode_row_id row, const void *info)
{
	struct thread *thread = rows_passing(info);

	if (unlikely(thread)) {
		jpeg_pass(thread, info);
		rows_settle(thread, thread->rows.passed_count + 1);
	}
	return unit_begin(unit, row) && jpeg_begun(unit, info);
}

static inline bool jpeg_row_begin(struct unit *unit, enum decode_row_id row, const void *info)
{
	return rows_time_begin(unit, DECODE_JPEG, info) ? jpeg_begun(unit, info)
							: jpeg_begin(unit, row, info);
}

static inline uint64_t jpeg_bytes(const struct unit *unit, const void *info)
{
	const struct jpeg_source *source = JPEG_SOURCE(info);

	return source ? jpeg_taken(source, unit->input, unit->input_bytes) : 0;
}

static void jpeg_end(struct unit *unit, const void *info, struct unit_result result)
{
	result.bytes = jpeg_bytes(unit, info);
	unit_end_part(unit, info, result);
}

static inline void jpeg_row_end(struct unit *unit, enum decode_row_id row, const void *info,
				uint32_t count)
{
	if (unlikely(!rows_time_end(unit, row, jpeg_bytes(unit, info), count)))
		jpeg_end(unit, info, (struct unit_result){0});
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
