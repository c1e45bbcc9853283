/* SPDX-License-Identifier: Apache-2.0 */
/* explain.h - the meaning of every cause, advice and metric: one table of pages. */
#pragma once

#include <stddef.h>

#include "render/form/page.h"

struct explanation {
	const char *id;   /* the same id as in JSON */
	const char *kind; /* cause, advice, metric */
	const char *line; /* in one sentence */
	const char *page; /* paragraphs, separated by an empty line */
	const char *how;  /* for advice: how to follow it, in the page's first sentence */
};

/* NULL: no page has this id. A cause and an advice never share an id, except "none". */
const struct explanation *explain_find(const char *id);

/* The i-th page; NULL: there are no more. */
const struct explanation *explain_at(size_t i);

void explain_print(const struct page *page, const struct explanation *explanation);

/* All ids, by kind. */
void explain_list(const struct page *page);
