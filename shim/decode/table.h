/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - the decode libraries that are observed, made from libraries.def. */
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

extern HIDDEN const struct wrap_library table_marks[DECODE_LIBRARY_MAX];

/* Called when a caller first gets our wrapper for the library. */
void table_reached(int library);
