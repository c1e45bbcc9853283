/* SPDX-License-Identifier: Apache-2.0 */
/*
 * every_row.h - a library that has every function of decode/decode.def, cuda/cudart.def,
 * python/loaders/dali.def and python/loaders/tfdata.def, and does nothing: every_row_library.c; and
 * what it is told to do instead.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "decode/unit.h"

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

/* dim3, by value. */
struct cuda_dim3 {
	unsigned int x, y, z;
};

enum row {
#define WRAP(library, family, type, name, params, args) ROW_##name,
#define WRAP_VOID(library, family, name, params, args)	ROW_##name,
#include "decode/decode.def"
	ROW_DECODER_MAX,
	ROW_BEFORE_OTHERS = ROW_DECODER_MAX - 1,
#include "cuda/cudart.def"
#include "python/loaders/dali.def"
#include "python/loaders/tfdata.def"
#undef WRAP
#undef WRAP_VOID
	ROW_MAX
};

#define ROW_EXPORT __attribute__((visibility("default")))

extern ROW_EXPORT uint64_t row_answer[2];   /* what the next calls return */
extern ROW_EXPORT void (*row_effect)(void); /* what they do */
extern ROW_EXPORT uint32_t row_calls[ROW_MAX];

#define WRAP(library, family, type, name, params, args) ROW_EXPORT type name params;
#define WRAP_VOID(library, family, name, params, args)                                             \
	WRAP(library, family, void, name, params, args)
#include "every_row.def"
#undef WRAP
#undef WRAP_VOID


/* every_row_families.c */
/* What one call, or one sequence of calls, adds. */
struct told {
	uint64_t count, failed_count, bytes, width, made;
	const char *format; /* NULL: the library's */
	bool nothing;       /* not even time */
	bool unknown;       /* an image of which nobody knows what it was: no tally */
};

extern struct told expected;
extern bool same_answer;	/* what the row returned is what the library did */

/* Sets the arguments of a call, what the library answers and does, and `expected`. */
void tell(enum row row, bool done);
void hit(enum row row);
enum decode_library_id row_library(enum row row);

/* What follows the row's own call. */
void conclude(enum row row);
