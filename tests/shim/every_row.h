/* SPDX-License-Identifier: Apache-2.0 */
/*
 * every_row.h - a library that has every function of decode/decode.def and does nothing:
 * every_row_library.c; and what every_row.c tells it to do instead.
 */
#ifndef EVERY_ROW_H
#define EVERY_ROW_H

#include <stdint.h>
#include <sys/types.h>

#include "decode/decode.h"

#define ROW_WIDTH  300
#define ROW_HEIGHT 200

/* struct heif_error, by value. */
struct heif_status {
	int code, detail;
	const char *text;
};

/* absl::Time, by value. */
struct tf_time {
	uint64_t high;
	uint32_t low;
};

#define ROW_EXPORT __attribute__((visibility("default")))

extern ROW_EXPORT uint64_t row_answer[2];   /* what the next calls return */
extern ROW_EXPORT void (*row_effect)(void); /* what they do */
extern ROW_EXPORT uint32_t row_calls[DECODE_ROW_MAX];

#define DECODE(library, family, type, name, params, args) ROW_EXPORT type name params;
#define DECODE_VOID(library, family, name, params, args)                                           \
	DECODE(library, family, void, name, params, args)
#include "decode/decode.def"
#undef DECODE
#undef DECODE_VOID

#endif
