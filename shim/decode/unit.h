/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.h - time a call of a decode library, and count the image that it is part of once.
 *
 * The outermost decoder owns the time: zlib inside libpng, or libjpeg inside libtiff, is neither
 * timed nor counted by itself. Bytes that a call reads through libc are read time, as everywhere.
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
	struct span span;	/* first: a frame's address is the span's and the unit's */
	uint64_t mark;		/* tells this unit from later contents of the stack */
	enum decode_library_id library;
	const void *input;	/* for the wrapper: where the input stood before the call */
	uint64_t input_bytes;
	uint64_t room_bytes;	/* for the wrapper: room for output before the call */
	bool only_bytes;	/* time is counted by the Python call around this one */
};

/* Facts that a call found out. All zero: none. */
struct unit_result {
	const char *format;	/* NULL: the library's usual one */
	uint32_t width;
	uint32_t height;
	uint64_t bytes;		/* bytes that came in */
	uint64_t made_bytes;	/* bytes that a packer's library made of them */
	bool counted;		/* this call decoded an image, a frame or a stream */
	bool failed;
};

/* Reads a field of a struct that is part of an ABI, a library's or the kernel's. */
#define FIELD(type, struct_at, offset) (*(const type *)((const char *)(struct_at) + (offset)))

/* False: the call is not recorded, or part of another decoder's work. Then do not call the end. */
bool unit_begin(struct unit *unit, enum decode_library_id library, const char *name);

/* Whether eight bytes can be read there: a system call. */
bool unit_can_read(const void *address);

/* Ends a call that is a whole image, or a call of a library that has no images. */
void unit_end(struct unit *unit, struct unit_result result);

/* The tally of this library, format and width. NULL: there is no room for it. */
struct dlprof_tally *unit_tally(const struct unit *unit, const struct unit_result *result);
