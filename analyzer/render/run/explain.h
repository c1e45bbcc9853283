/* SPDX-License-Identifier: Apache-2.0 */
/* explain.h - a table of pages that explain each cause, advice and metric. */
#pragma once

#include <stddef.h>

#include "render/form/page.h"

struct explanation {
	const char *id;   /* id of the cause, advice or metric, as in JSON */
	const char *kind; /* "cause", "advice" or "metric" */
	const char *line; /* the meaning in one sentence */
	const char *page; /* paragraphs, separated by an empty line */
	const char *how;  /* of an advice: how to follow it, its page's first sentence */
};

/* Returns the page with this id, or NULL. Only the id "none" is both a cause and an advice. */
const struct explanation *explain_find(const char *id);

/* Returns page number `i`, or NULL if there are fewer pages. */
const struct explanation *explain_at(size_t i);

void explain_print(const struct page *page, const struct explanation *explanation);

/* Prints the ids of all pages, by kind. */
void explain_list(const struct page *page);
