/* SPDX-License-Identifier: Apache-2.0 */
/* dialect.h - the names that a loader's library uses for its settings. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/cause/advice.h"

struct loader_info;
struct report;

struct dialect {
	const char *kind; /* the `kind` of such loaders begins with this */
	unsigned lacks;   /* bits of enum loader_option that the library does not have */
	bool is_torch;
	bool has_workers; /* the loader has a setting like num_workers */
	const char *prefetch, *prefetch_x4, *prefetch_each; /* names of prefetch settings; each: for
							     * one worker */
};

/* Returns the dialect of a loader, that of PyTorch if `loader` is NULL. */
const struct dialect *dialect_of(const struct loader_info *loader);

/* Returns true if the loader's workers are threads of the training's process. */
bool dialect_is_threads(const struct loader_info *loader);

/* Append an advice in the loader's words. Return false, and append nothing, if PyTorch's fit. */
bool dialect_add_line(const struct report *report, const struct advice *advice, char *text,
		      size_t size);
bool dialect_add_how(const struct report *report, const struct advice *advice, char *text,
		     size_t size);
