/* SPDX-License-Identifier: Apache-2.0 */
/* explain.h - a table of pages that explain each cause, advice and metric. */
#pragma once

#include <stddef.h>

#include "render/form/page.h"

struct explanation {
	const char *id;
	const char *kind;
	const char *line; /* the meaning in a sentence */
	const char *page; /* paragraphs, separated by an empty line */
	const char *how;  /* how to follow an advice; NULL: this is no advice */
};

/* Returns the page of an id, or NULL. One id, "none", is that of a cause and of an advice. */
const struct explanation *explain_find(const char *id);

/* Returns page `i`, or NULL if there are fewer pages. */
const struct explanation *explain_at(size_t i);

void explain_print(const struct page *page, const struct explanation *explanation);

void explain_list(const struct page *page);
