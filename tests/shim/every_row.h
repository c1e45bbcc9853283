/* SPDX-License-Identifier: Apache-2.0 */
/*
 * every_row.h - a library (every_row_library.c) that has all functions of decode/decode.def,
 * cuda/cudart.def, python/loaders/dali.def and python/loaders/tfdata.def. They do nothing but what
 * row_effect and row_answer say.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "decode/unit.h"

#define ROW_WIDTH  300
#define ROW_HEIGHT 200

/* Like libheif's struct heif_error, which functions return by value. */
struct heif_status {
	int code, detail;
	const char *text;
};

/* Like absl::Time, which is passed by value. */
struct tf_time {
	uint64_t high;
	uint32_t low;
};

/* Like CUDA's dim3, which is passed by value. */
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
extern ROW_EXPORT void (*row_effect)(void); /* what they do; NULL: nothing */
extern ROW_EXPORT uint32_t row_calls[ROW_MAX];

#define WRAP(library, family, type, name, params, args) ROW_EXPORT type name params;
#define WRAP_VOID(library, family, name, params, args)                                             \
	WRAP(library, family, void, name, params, args)
#include "every_row.def"
#undef WRAP
#undef WRAP_VOID


/* every_row_families.c */
/* What one call, or one sequence of calls, must add to the tallies. */
struct told {
	uint64_t count, failed_count, bytes, width, made;
	const char *format; /* NULL: the library's only format */
	bool nothing;       /* adds not even time */
	bool unknown;       /* the image's format is not known, so that no tally gets it */
};

extern struct told expected;
extern bool same_answer;	/* the wrapper must return the library's answer */

/* Sets a row's arguments, the library's answer and effect, and `expected`; `done`: it succeeds. */
void tell(enum row row, bool done);
void hit(enum row row);
enum decode_library_id row_library(enum row row);

/* Makes the calls that must follow the row's own call. */
void conclude(enum row row);
