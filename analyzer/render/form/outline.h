/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outline.h - what a report says, apart from how it looks: blocks of rows, a row being a label, a
 * value, what else there is of it, and a tone. Text, Markdown and HTML walk the same outline, so
 * that no two of them say different things.
 */
#pragma once

#include <stddef.h>

#include "render/form/page.h"

#define OUTLINE_CELLS 9

/* Chapters that all forms lay out alike. */
#define OUTLINE_HEAD    "head"    /* of each run: program, what there is of it, its name */
#define OUTLINE_VERDICT "verdict" /* words, a sentence without its full stop, paragraphs */
#define OUTLINE_MORE    "more"    /* what to type next: on a terminal alone */

struct batch_series;

struct outline_row {
	char *cells[OUTLINE_CELLS]; /* of items: label, text, and what stands below it, or NULL */
	size_t count;
	double share; /* of the bar that the block is, or beside which it stands; else NAN */
	int part;     /* which part of the bar: enum account_part, ACCOUNT_PART_MAX for the rest */
	enum page_color tone;
	const char *sign; /* on a page, before the text of cell `signed_cell`; NULL: none */
	size_t signed_cell;
};

/* Rows of one kind. A block without any is shown nowhere. */
struct outline_block {
	const char *chapter; /* what it belongs to: those of one chapter follow each other */
	char *title;         /* NULL: none */
	/* Of a table's columns, ended by NULL; '#' begins that of a number. No first: items. */
	const char *headings[OUTLINE_CELLS + 1];
	struct outline_row *rows;
	size_t count;
	/* On a terminal a strip of its waits comes first, and rows are not needed. NULL: none. */
	const struct batch_series *series;
	const float *waits;
};

struct outline {
	struct outline_block *blocks;
	size_t count;
	bool failed; /* there was no memory for all of it */
};

/* All zero is an empty one. */
void outline_done(struct outline *outline);

/* NULL: nothing is said of it. */
const struct outline_block *outline_find(const struct outline *outline, const char *chapter);

/*
 * To make one. A block is open until the next; a row gets its cells from left to right. What
 * `chapter` and `headings` point to must outlive the outline.
 */
void outline_items(struct outline *outline, const char *chapter);
void outline_table(struct outline *outline, const char *chapter, const char *const *headings);
__attribute__((format(printf, 2, 3))) void outline_title(struct outline *outline,
							 const char *format, ...);
void outline_strip(struct outline *outline, const struct batch_series *series, const float *waits);
void outline_row(struct outline *outline, enum page_color tone);
void outline_sign(struct outline *outline, const char *sign); /* of the next cell */
void outline_share(struct outline *outline, double share, int part);
__attribute__((format(printf, 2, 3))) void outline_cell(struct outline *outline, const char *format,
							...);

/* A row of these texts, which NULL ends. */
__attribute__((sentinel)) void outline_cells(struct outline *outline, ...);

/* An item: a row of a label and a text. */
#define outline_item(outline, label, ...)                                                          \
	(outline_cells(outline, label, NULL), outline_cell(outline, __VA_ARGS__))

/* A row of a time, its share of a whole (NAN: none) and what it means. NAN: not observed. */
extern const char *const OUTLINE_PARTS[];
void outline_time(struct outline *outline, const char *label, double ns, double whole_ns);
#define outline_part(outline, label, ns, whole_ns, ...)                                            \
	(outline_time(outline, label, ns, whole_ns), outline_cell(outline, __VA_ARGS__))

/* On a terminal, or as Markdown; then outline_done(). 0 or -ENOMEM. */
int outline_show(struct outline *outline, const struct page *page, bool markdown);

/* markdown.c: for issues, pull requests and jobs' pages. */
void outline_markdown(const struct outline *outline, FILE *out);
