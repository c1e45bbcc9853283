/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outline.h - the content of a report, apart from its form: blocks of rows, where a row has a
 * label, a value, further cells, and a tone. Text, Markdown and HTML walk the same outline, so that
 * no two of them say different things.
 */
#pragma once

#include <stddef.h>

#include "render/form/page.h"

#define OUTLINE_CELLS 9

/* Chapters with the same layout in all forms. */
#define OUTLINE_HEAD    "head"    /* of each run: program, amount of data, name */
#define OUTLINE_VERDICT "verdict" /* words, a sentence without its full stop, paragraphs */
#define OUTLINE_MORE    "more"    /* commands to type next, only on a terminal */

struct batch_series;

struct outline_row {
	char *cells[OUTLINE_CELLS]; /* for items: label, text, and text below it or NULL */
	size_t count;
	double share; /* share of a bar, which the block is or has; else NAN */
	int part;     /* part of the bar: enum account_part, or ACCOUNT_PART_MAX for the rest */
	enum page_color tone;
	const char *sign; /* for pages: a sign before the text of cell `signed_cell`; or NULL */
	size_t signed_cell;
};

/* Rows of one kind. A block without rows is not shown. */
struct outline_block {
	const char *chapter; /* blocks of a chapter follow each other */
	char *title;         /* NULL: none */
	/* A table's headings, ended by NULL; '#' begins that of a number. Items have none. */
	const char *headings[OUTLINE_CELLS + 1];
	struct outline_row *rows;
	size_t count;
	/* For a terminal: waits to draw as a strip above the rows, if any; or NULL. */
	const struct batch_series *series;
	const float *waits;
};

struct outline {
	struct outline_block *blocks;
	size_t count;
	bool failed; /* memory was too short */
};

/* An outline begins as all zero. */
void outline_done(struct outline *outline);

/* NULL: there is no such chapter. */
const struct outline_block *outline_find(const struct outline *outline, const char *chapter);

/*
 * Functions to make an outline. A block is open until the next; a row gets its cells from left to
 * right. `chapter` and `headings` must outlive the outline.
 */
void outline_items(struct outline *outline, const char *chapter);
void outline_table(struct outline *outline, const char *chapter, const char *const *headings);
__attribute__((format(printf, 2, 3))) void outline_title(struct outline *outline,
							 const char *format, ...);
void outline_strip(struct outline *outline, const struct batch_series *series, const float *waits);
void outline_row(struct outline *outline, enum page_color tone);
void outline_sign(struct outline *outline, const char *sign); /* for the next cell */
void outline_share(struct outline *outline, double share, int part);
__attribute__((format(printf, 2, 3))) void outline_cell(struct outline *outline, const char *format,
							...);

/* Adds a row with these texts, ended by NULL. */
__attribute__((sentinel)) void outline_cells(struct outline *outline, ...);

/* Adds an item: a row with a label and a text. */
#define outline_item(outline, label, ...)                                                          \
	(outline_cells(outline, label, NULL), outline_cell(outline, __VA_ARGS__))

/* Adds a row with a time, its share of a whole (NAN: none) and what it means. NAN: not observed. */
extern const char *const OUTLINE_PARTS[];
void outline_time(struct outline *outline, const char *label, double ns, double whole_ns);
#define outline_part(outline, label, ns, whole_ns, ...)                                            \
	(outline_time(outline, label, ns, whole_ns), outline_cell(outline, __VA_ARGS__))

/* Prints the outline as text or Markdown, then calls outline_done(). 0 or -ENOMEM. */
int outline_show(struct outline *outline, const struct page *page, bool markdown);

/* markdown.c: for issues, pull requests and jobs' pages. */
void outline_markdown(const struct outline *outline, FILE *out);
