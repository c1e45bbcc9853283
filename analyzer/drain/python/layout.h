/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - where in the memory of a CPython is what a stack is made of: offsets in bytes. */
#pragma once

#include <stdint.h>

#include "drain/python/memory.h"
#include "drain/python/reason.h"

/* An offset that this version has not. */
#define LAYOUT_NONE UINT32_MAX

/* A version whose structs are larger is refused: buffers of these sizes hold what is read. */
#define LAYOUT_THREAD_BYTES 256
#define LAYOUT_FRAME_BYTES  128
#define LAYOUT_CODE_BYTES   192
#define LAYOUT_TEXT_BYTES   64

enum layout_offset {
#define OFFSET(name, ...) name,
#include "drain/python/layout.def"
#undef OFFSET
	LAYOUT_COUNT
};

struct layout {
	uint32_t minor; /* 3.`minor` */
	uint32_t at[LAYOUT_COUNT];
	/* How much of each is read. */
	uint32_t thread_bytes, frame_bytes, code_bytes;
};

/* The same in every version. */
enum {
	OBJECT_TYPE = 8,
	OBJECT_SIZE = 16, /* of an object of variable size */
	TYPE_NAME = 24,
	TEXT_LENGTH = 16,
	TEXT_STATE = 32,
	BYTES_START = 32,
};

/* `version` is PY_VERSION_HEX, and `runtime` the address of _PyRuntime. */
enum reason layout_find(const struct memory *memory, uint64_t runtime, uint32_t version,
			struct layout *ret);
