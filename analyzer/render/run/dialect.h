/* SPDX-License-Identifier: Apache-2.0 */
/* dialect.h - what the settings of a loader are called where its user sets them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/cause/advice.h"

struct loader_info;
struct report;

struct dialect {
	const char *kind; /* how kinds of such loaders begin */
	unsigned lacks;   /* bits of enum loader_option */
	bool is_torch;
	bool has_workers; /* num_workers is a setting */
	const char *prefetch, *prefetch_x4, *prefetch_each; /* each: of each worker */
};

/* NULL: not known. */
const struct dialect *dialect_of(const struct loader_info *loader);

/* Its workers are threads of the training's process. */
bool dialect_is_threads(const struct loader_info *loader);

/* A step in this loader's own words, where they are not PyTorch's. False: nothing was added. */
bool dialect_add_line(const struct report *report, const struct advice *advice, char *text,
		      size_t size);
bool dialect_add_how(const struct report *report, const struct advice *advice, char *text,
		     size_t size);
