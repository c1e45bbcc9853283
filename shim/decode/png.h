/* SPDX-License-Identifier: Apache-2.0 */
/* png.h - the families of libpng's calls. libpng's structs are private: its functions are asked. */
#pragma once

#include "decode/family.h"
#include "decode/sequence.h"

static void png_end(struct unit *unit, const struct wrap_copy *copy, const void *png,
		    const void *info, struct unit_result result)
{
	uint32_t (*width)(const void *, const void *) = copy->helpers[0];
	uint32_t (*height)(const void *, const void *) = copy->helpers[1];

	if (info && width && height) {
		result.width = width(png, info);
		result.height = height(png, info);
	}
	sequence_part_end(unit, png, result);
}

static void png_header_end(struct unit *unit, const struct wrap_copy *copy, const void *png,
			   const void *info, bool counted)
{
	sequence_forget(unit, png);
	png_end(unit, copy, png, info, (struct unit_result){.counted = counted});
}

static void png_push_end(struct unit *unit, const struct wrap_copy *copy, const void *png,
			 const void *info, size_t size)
{
	uint32_t (*width)(const void *, const void *) = copy->helpers[0];
	bool known = info && width && width(png, info);

	/* An image counts at its header, as no call marks its last line. */
	png_end(unit, copy, png, info,
		(struct unit_result){.bytes = size,
				     .counted = known && !sequence_is_counted(unit, png)});
}

static struct thread_image *png_pixels_end(struct unit *unit, const void *png)
{
	return sequence_part_end(unit, png,
				 (struct unit_result){.counted = !sequence_is_counted(unit, png)});
}

static bool png_close(const struct unit *unit, const void *png, bool is_last)
{
	struct thread_image *image = sequence_started(DECODE_PNG, png);

	if (image)
		sequence_end(image, (uintptr_t)unit, is_last);
	return image != NULL;
}

#define END_PNG		 sequence_part_end(&unit, png, NO_BITS)
#define END_PNG_HEADER	 png_header_end(&unit, copy, png, info, false)
#define END_PNG_WHOLE	 png_header_end(&unit, copy, png, info, true)
#define END_PNG_PIXELS	 png_pixels_end(&unit, png)
/* Only an image's first row is recorded. */
#define BEGIN_PNG_ROW	 , (!sequence_started(DECODE_PNG, png) && BEGIN)
#define END_PNG_ROW	 sequence_start(png_pixels_end(&unit, png))
#define BEGIN_PNG_FINISH                                                                           \
	, (sequence_started(DECODE_PNG, png) ? (unit.mark = 0, true) : BEGIN)
#define END_PNG_FINISH                                                                             \
	if (unit.mark)                                                                             \
		sequence_part_end(&unit, png, NO_BITS);                                            \
	else                                                                                       \
		png_close(&unit, png, false)
#define BEGIN_PNG_CLOSE	 , (at && png_close(&unit, FIELD(const void *, at, 0), true) && false)
#define END_PNG_CLOSE	 (void)0
#define END_PNG_PUSH	 png_push_end(&unit, copy, png, info, size)
/* A png_image begins with a pointer, a version, the width (at byte 12) and the height (at 16). */
#define END_PNG_SIMPLE                                                                             \
	unit_end(&unit, (struct unit_result){.counted = result != 0,                               \
					     .failed = result == 0,                                \
					     .width = FIELD(uint32_t, image, 12),                  \
					     .height = FIELD(uint32_t, image, 16)})
