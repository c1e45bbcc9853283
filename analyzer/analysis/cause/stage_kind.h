/* SPDX-License-Identifier: Apache-2.0 */
/* stage_kind.h - the kinds of work that stages of a loader's pipeline do. */
#pragma once

#include <stdbool.h>

enum stage_kind {
	STAGE_READ,
	STAGE_DECODE,
	STAGE_TRANSFORM,
	STAGE_PYTHON, /* the user's Python: a generator, or a function called by numpy_function */
	STAGE_BATCH,
	STAGE_SHUFFLE,
	STAGE_CACHE,
	STAGE_INTERLEAVE,
	STAGE_PREFETCH,
	STAGE_READER, /* a thread that reads ahead, through stages of its own */
	STAGE_OTHER,
	STAGE_KIND_MAX
};

/* Names of the kinds, in the database and in JSON. */
extern const char *const stage_kind_names[STAGE_KIND_MAX];

/* Returns the kind of a stage (of a kernel if `is_kernel`) from the name its framework gives it. */
enum stage_kind stage_kind_of(const char *name, bool is_kernel);

/* Returns the kind with this name; STAGE_OTHER if there is none. */
enum stage_kind stage_kind_find(const char *name);
