/* SPDX-License-Identifier: Apache-2.0 */
/* stage_kind.h - what kind of work a stage of a loader's pipeline does. */
#pragma once

#include <stdbool.h>

enum stage_kind {
	STAGE_READ,
	STAGE_DECODE,
	STAGE_TRANSFORM,
	STAGE_PYTHON, /* the user's own Python: a generator, a function called by numpy_function */
	STAGE_BATCH,
	STAGE_SHUFFLE,
	STAGE_CACHE,
	STAGE_INTERLEAVE,
	STAGE_PREFETCH,
	STAGE_READER, /* a thread that reads ahead, with stages of its own */
	STAGE_OTHER,
	STAGE_KIND_MAX
};

/* Names in the database and in JSON. */
extern const char *const stage_kind_names[STAGE_KIND_MAX];

/* The kind by the framework's name; `is_kernel`: an operation within the stages. */
enum stage_kind stage_kind_of(const char *name, bool is_kernel);

/* The kind of this name; STAGE_OTHER for a name that is none. */
enum stage_kind stage_kind_find(const char *name);
