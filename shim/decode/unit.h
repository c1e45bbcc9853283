/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.h - times a call of a decode library, and counts its image once.
 *
 * The outermost decoder gets the time: zlib inside libpng is neither timed nor counted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "record/activate.h"
#include "record/span.h"
#include "record/tally.h"
#include "slots/wrap.h"

enum decode_library_id {
#define DECODER(id, name, format, sort, mark, first, second) DECODE_##id,
#include "decode/libraries.def"
	DECODE_LIBRARY_MAX
};

enum decode_sort {
	DECODE_SORT_IMAGE,
	DECODE_SORT_STREAM,
	DECODE_SORT_PACKER,
	DECODE_SORT_INPUT,
};

struct decode_library {
	const char *name;
	const char *format;
	enum decode_sort sort;
};

extern HIDDEN const struct decode_library table_libraries[DECODE_LIBRARY_MAX];

extern HIDDEN const struct wrap_library table_marks[DECODE_LIBRARY_MAX];

/* Called when a caller first gets our wrapper for the library. */
void table_reached(int library);

struct unit {
	struct span span;	/* first member: span, unit and stack frame have one address */
	uint64_t mark;		/* shows that the stack here still holds this unit */
	enum decode_library_id library;
	const void *input;	/* start of the input before the call; for the wrapper's own use */
	uint64_t input_bytes;
	uint64_t room_bytes;	/* room for output before the call; for the wrapper's own use */
	bool only_bytes;	/* the enclosing Python call gets the time */
};

struct unit_result {
	const char *format;	/* NULL: the library's usual format */
	uint32_t width;
	uint32_t height;
	uint64_t bytes;
	uint64_t made_bytes;
	bool counted;
	bool failed;
};

/* Reads a field of a struct whose layout is part of an ABI. */
#define FIELD(type, struct_at, offset) (*(const type *)((const char *)(struct_at) + (offset)))

/* Begins a call. Returns false if it is not recorded, or inside another decoder's call. */
bool unit_begin(struct unit *unit, enum decode_library_id library, const char *name);

/* Returns true if eight bytes at `address` can be read. Asks by a system call. */
bool unit_can_read(const void *address);

/* Ends a call that is a whole image, or whose library has no images. */
void unit_end(struct unit *unit, struct unit_result result);

/* Returns the tally of images like this one, or NULL if there is no room for it. */
struct dlprof_tally *unit_tally(const struct unit *unit, const struct unit_result *result);
