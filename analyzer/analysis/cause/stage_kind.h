/* SPDX-License-Identifier: Apache-2.0 */
/* stage_kind.h - the kinds of work that stages of a loader's pipeline do. */
#pragma once

#include <stdbool.h>

enum stage_kind {
	STAGE_READ,
	STAGE_DECODE,
	STAGE_TRANSFORM,
	STAGE_PYTHON, /* Python code of the user: a generator, or numpy_function */
	STAGE_BATCH,
	STAGE_SHUFFLE,
	STAGE_CACHE,
	STAGE_INTERLEAVE,
	STAGE_PREFETCH,
	STAGE_READER, /* a thread that reads ahead of the other stages */
	STAGE_OTHER,
	STAGE_KIND_MAX
};

/* Names in the database and in JSON. */
extern const char *const stage_kind_names[STAGE_KIND_MAX];

enum stage_kind stage_kind_of(const char *name, bool is_kernel);

/* Returns the kind with this name; STAGE_OTHER: no kind has it. */
enum stage_kind stage_kind_find(const char *name);
