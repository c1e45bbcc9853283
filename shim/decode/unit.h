/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.h - times a call of a decode library, and counts the image that the call belongs to once.
 *
 * The outermost decoder gets the time: zlib inside libpng, or libjpeg inside libtiff, is neither
 * timed nor counted. If a call reads through libc, that part is read time, as everywhere.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "decode/table.h"
#include "record/activate.h"
#include "record/span.h"
#include "record/tally.h"

struct unit {
	struct span span;	/* first: span, unit and stack frame have one address */
	uint64_t mark;		/* tells this unit from later contents of the stack */
	enum decode_library_id library;
	const void *input;	/* used by the wrapper: begin of the input before the call */
	uint64_t input_bytes;
	uint64_t room_bytes;	/* used by the wrapper: room for output before the call */
	bool only_bytes;	/* only bytes are added: the outer Python call has the time */
};

/* What a call did. All members 0: nothing. */
struct unit_result {
	const char *format;	/* NULL: the library's usual one */
	uint32_t width;
	uint32_t height;
	uint64_t bytes;		/* bytes of input */
	uint64_t made_bytes;	/* bytes that a packer put out */
	bool counted;		/* the call decoded an image, a frame or a stream */
	bool failed;
};

/* Reads a field of a struct whose layout is part of an ABI, a library's or the kernel's. */
#define FIELD(type, struct_at, offset) (*(const type *)((const char *)(struct_at) + (offset)))

/* Begins a call. Returns false if it is not recorded, or is inside another decoder's call. */
bool unit_begin(struct unit *unit, enum decode_library_id library, const char *name);

/* Returns true if the eight bytes at `address` can be read. Makes a system call. */
bool unit_can_read(const void *address);

/* Ends a call that is a whole image, or a call of a library that has no images. */
void unit_end(struct unit *unit, struct unit_result result);

/* Returns the tally of a library, format and width, or NULL if there is no room for it. */
struct dlprof_tally *unit_tally(const struct unit *unit, const struct unit_result *result);
