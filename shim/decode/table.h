/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - the table of the decode libraries that are observed, made from libraries.def. */
#pragma once

#include "slots/wrap.h"

enum decode_library_id {
#define DECODER(id, name, format, sort, mark, first, second) DECODE_##id,
#include "decode/libraries.def"
#undef DECODER
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

/* The libraries in the same order, with the marks by which they are recognised. */
extern HIDDEN const struct wrap_library table_marks[DECODE_LIBRARY_MAX];

/* Notes that a caller reaches this library through our wrapper from now on. */
void table_reached(int library);
