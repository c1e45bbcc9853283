/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode.h - the wrappers of decode libraries, one instance for each real function they stand for.
 *
 * Two copies of libjpeg in one process are two real functions of one name, and each caller must get
 * to its own: so every row of decode.def has a few instances, and got.c gives each real function
 * one of them.
 */
#ifndef DECODE_H
#define DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DECODE_INSTANCE_MAX 8

/* CUDA's dim3, which goes by value. */
struct cuda_dim3 {
	unsigned int x, y, z;
};

enum decode_library_id {
#define DECODER(id, name, format, sort, mark, first, second) DECODE_##id,
#include "decode/libraries.def"
#undef DECODER
	DECODE_LIBRARY_MAX
};

enum decode_row_id {
#define DECODE(library, family, type, name, params, args) DECODE_ROW_##name,
#define DECODE_VOID(library, family, name, params, args)  DECODE_ROW_##name,
#include "decode/decode.def"
#undef DECODE
#undef DECODE_VOID
	DECODE_ROW_MAX
};

enum decode_sort {
	DECODE_SORT_IMAGE,
	DECODE_SORT_STREAM,
	DECODE_SORT_PACKER,
	DECODE_SORT_INPUT,
	DECODE_SORT_CUDA,
	DECODE_SORT_LOADER,
};

/* A row of libraries.def. */
struct decode_library {
	const char *name;
	const char *format;
	enum decode_sort sort;
	const char *mark;
	const char *helpers[2];
};

/* What one wrapper instance stands for. */
struct decode_target {
	void *real;		/* NULL: free. Set last, read without a lock */
	void *helpers[2];	/* of the same copy of the library; NULL: none */
	bool foreign; /* of another namespace, where nobody says what is closed: kept for ever */
	void **slot;  /* bound lazily: `real` is the way to ld.so, which changes the slot */
};

/* A row of decode.def. No pointers: every process would have ld.so add its base to all of them. */
struct decode_row {
	uint16_t name;		/* where it begins, for decode_name() */
	uint8_t library;	/* enum decode_library_id */
};

extern const struct decode_library decode_libraries[DECODE_LIBRARY_MAX];
extern const struct decode_row decode_rows[DECODE_ROW_MAX];

const char *decode_name(int row);

/* The wrapper for decode_targets[row][instance]. */
void *decode_wrapper(int row, int instance);

/* elf_hash() of each row's name. */
extern uint32_t decode_hashes[DECODE_ROW_MAX];

extern struct decode_target decode_targets[DECODE_ROW_MAX][DECODE_INSTANCE_MAX];

/* The row of this name, or -1. */
int decode_row_of(const char *name);

/* Before decode_row_of(); a second time does no harm. */
void decode_index(void);

#endif
