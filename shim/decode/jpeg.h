/* SPDX-License-Identifier: Apache-2.0 */
/* jpeg.h - the families of libjpeg's calls. Members read here are alike in 6b, 7, 8 and turbo. */
#pragma once

#include "decode/family.h"
#include "decode/sequence.h"
#include "decode/unit.h"

#define JPEG_SOURCE(info) FIELD(const struct jpeg_source *, info, 40)
#define JPEG_WIDTH(info)  FIELD(uint32_t, info, 48)
#define JPEG_HEIGHT(info) FIELD(uint32_t, info, 52)
#define JPEG_HEADER_OK	  1
#define JPEG_WHOLE_MOST	  (1 << 20) /* a larger size may stand for "unknown", as SIZE_MAX does */

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

/* Returns the bytes taken since `before` was next; if the buffer was refilled, `before_bytes`. */
static inline uint64_t jpeg_taken(const void *next, const void *before, uint64_t before_bytes)
{
	uintptr_t taken = (uintptr_t)next - (uintptr_t)before;

	return likely(taken <= before_bytes) ? taken : before_bytes;
}

static bool jpeg_begin(struct unit *unit, const char *name, const void *info)
{
	return activate_on() && unit_begin(unit, DECODE_JPEG, name) && jpeg_begun(unit, info);
}

static inline void jpeg_look(struct thread_image *image, const void *info)
{
	const struct jpeg_source *source = JPEG_SOURCE(info);
	const uint8_t *next;

	/* Most rows take no new input, because they were decoded with an earlier row. */
	if (unlikely(!source) || (next = source->next) == image->input)
		return;
	image->taken_bytes += jpeg_taken(next, image->input, image->input_bytes);
	image->input = next;
	image->input_bytes = source->left;
}

/* The image whose input may be refilled between rows: each row looks at the input. NULL: none. */
static __thread const void *jpeg_refilled __attribute__((tls_model("initial-exec")));

/* Returns true if the buffer ends like a JPEG. Only buffers of known Python calls are trusted. */
static bool jpeg_is_whole(const struct thread *thread, const struct jpeg_source *source)
{
	return thread->boundary_address && source && source->left >= 2 &&
	       source->left <= JPEG_WHOLE_MOST && source->next[source->left - 2] == 0xff &&
	       source->next[source->left - 1] == 0xd9;
}

/* Works whether or not this process records, because only its own memory is written. */
static void jpeg_row_of_many(const void *info)
{
	struct thread *thread = thread_self;

	if (thread && thread->started && thread->started->handle == info)
		jpeg_look(thread->started, info);
}

static inline bool jpeg_row(const void *info)
{
	if (likely(jpeg_refilled != info))
		return false;
	jpeg_row_of_many(info);
	return true;
}

/* Called if there was too little data, so that the rest comes in another buffer. Returns 0. */
static RARELY int jpeg_pause(const void *info)
{
	struct thread_image *image = sequence_started(DECODE_JPEG, info);

	if (!image)
		return 0;
	jpeg_look(image, info);
	image->input = NULL;
	image->input_bytes = 0;
	return 0;
}

static struct thread_image *jpeg_end(struct unit *unit, const void *info, struct unit_result result)
{
	const struct jpeg_source *source = JPEG_SOURCE(info);

	result.bytes = source ? jpeg_taken(source->next, unit->input, unit->input_bytes) : 0;
	return sequence_part_end(unit, info, result);
}

static void jpeg_header_end(struct unit *unit, const void *info, int found)
{
	struct unit_result result = {0};

	sequence_forget(unit, info);
	if (found == JPEG_HEADER_OK) {
		result.width = JPEG_WIDTH(info);
		result.height = JPEG_HEIGHT(info);
	}
	jpeg_end(unit, info, result);
}

/* Begins an image's pixels. Without `done`, the library wants more data, and a new call. */
static void jpeg_start_end(struct unit *unit, const void *info, bool done)
{
	struct thread_image *image = jpeg_end(unit, info, (struct unit_result){.counted = done});

	if (!image || !done)
		return;
	image->input = NULL;
	image->input_bytes = 0;
	sequence_start(image);
	jpeg_look(image, info);
	jpeg_refilled = jpeg_is_whole(thread_self, JPEG_SOURCE(info)) ? NULL : info;
}

/* term_source() may have freed the source of an image that is destroyed. */
static bool jpeg_has_source(const struct jpeg_source *source)
{
	return source && unit_can_read(&source->next) && unit_can_read(&source->left);
}

static void jpeg_close(uintptr_t address, const void *info, bool is_last)
{
	const struct thread *thread = thread_self;
	struct thread_image *image;

	if (!thread || !thread->started)
		return;
	image = sequence_started(DECODE_JPEG, info);
	if (!image)
		return;
	if (thread->boundary_address || jpeg_has_source(JPEG_SOURCE(info)))
		jpeg_look(image, info);
	sequence_end(image, address, is_last);
	jpeg_refilled = thread->started ? thread->started->handle : NULL;
}

#define BEGIN_JPEG_HEADER , jpeg_begin(&unit, row_name, info)
#define END_JPEG_HEADER	  jpeg_header_end(&unit, info, result)
#define BEGIN_JPEG_START  , jpeg_begin(&unit, row_name, info)
#define END_JPEG_START	  jpeg_start_end(&unit, info, result != 0)
#define JUMPS_JPEG_ROW	  , true
#define BEGIN_JPEG_ROW	  , jpeg_row(info)
#define END_JPEG_ROW                                                                               \
	if (unlikely(!result))                                                                     \
	return jpeg_pause(info)
#define BEGIN_JPEG_FINISH , (jpeg_row(info), true)
#define END_JPEG_FINISH                                                                            \
	if (unlikely(!result))                                                                     \
		return jpeg_pause(info);                                                           \
	jpeg_close((uintptr_t)&unit, info, false)
#define BEGIN_JPEG_CLOSE  , (jpeg_close((uintptr_t)&unit, info, true), false)
#define END_JPEG_CLOSE	  (void)0
