/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - offsets in bytes of the fields of CPython's memory that make up a stack. */
#pragma once

#include <stdint.h>

#include "drain/python/memory.h"
#include "drain/python/reason.h"

/* offset of a field that this version lacks */
#define LAYOUT_NONE UINT32_MAX

/* A version whose structs are larger than these buffers is refused. */
#define LAYOUT_THREAD_BYTES 256
#define LAYOUT_FRAME_BYTES  128
#define LAYOUT_CODE_BYTES   192
#define LAYOUT_TEXT_BYTES   64

enum layout_offset {
#define OFFSET(name, ...) name,
#include "drain/python/layout.def"
	LAYOUT_COUNT
};

struct layout {
	uint32_t minor;
	uint32_t at[LAYOUT_COUNT];
	uint32_t thread_bytes, frame_bytes, code_bytes;
};

enum {
	OBJECT_TYPE = 8,
	OBJECT_SIZE = 16, /* in objects of variable size only */
	TYPE_NAME = 24,
	TEXT_LENGTH = 16,
	TEXT_STATE = 32,
	BYTES_START = 32,
};

/* `version` is PY_VERSION_HEX, `runtime` the address of _PyRuntime. */
enum reason layout_find(const struct memory *memory, uint64_t runtime, uint32_t version,
			struct layout *ret);
