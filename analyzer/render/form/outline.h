/* SPDX-License-Identifier: Apache-2.0 */
/* outline.h - what a report says, as blocks of rows that text, Markdown and HTML all show. */
#pragma once

#include <stddef.h>

#include "render/form/page.h"

#define OUTLINE_CELLS 9

/* Chapters that text, Markdown and HTML lay out in a way of their own. */
#define OUTLINE_HEAD    "head"    /* program, amount of data and name of each run */
#define OUTLINE_VERDICT "verdict" /* a row's cells: verdict, clause without full stop, paragraphs */
#define OUTLINE_MORE    "more"    /* commands to type next, shown on a terminal only */

struct batch_series;

struct outline_row {
	char *cells[OUTLINE_CELLS]; /* an item has a label, a text, and possibly a text below it */
	size_t count;
	double share; /* row's share of the block's bar, or length of its own bar; NAN: no bar */
	int part;     /* part of the bar: an enum account_part; ACCOUNT_PART_MAX: the steps */
	enum page_color tone;
	const char *sign; /* sign before the cell `signed_cell` in HTML pages; NULL: none */
	size_t signed_cell;
};

/* Rows that have the same columns. A block without rows is not shown. */
struct outline_block {
	const char *chapter; /* blocks of the same chapter follow each other */
	char *title;         /* NULL: no title */
	/* The headings, then NULL. "#" begins that of a column of numbers. Items: none. */
	const char *headings[OUTLINE_CELLS + 1];
	struct outline_row *rows;
	size_t count;
	/* The waits that a terminal shows as a strip (strip.h) above the rows. NULL: no strip. */
	const struct batch_series *series;
	const float *waits;
};

struct outline {
	struct outline_block *blocks;
	size_t count;
	bool failed; /* memory ran out, so the outline is incomplete */
};

/* Frees an outline. An empty outline is all zero. */
void outline_done(struct outline *outline);

/* Returns the first block of a chapter that has rows, or a block without rows. */
const struct outline_block *outline_find(const struct outline *outline, const char *chapter);

/*
 * These functions make an outline: a row is added to the last block, a cell to the last row.
 * outline_table(o, CHAPTER, HEADING, ...) begins a table. Chapters and headings are literals.
 */
void outline_headed(struct outline *outline, const char *chapter, const char *const *headings);
#define outline_items(outline, chapter) outline_headed(outline, chapter, NULL)
#define outline_table(outline, chapter, ...)                                                       \
	outline_headed(outline, chapter, (const char *const[]){__VA_ARGS__, NULL})
__attribute__((format(printf, 2, 3))) void outline_title(struct outline *outline,
							 const char *format, ...);
void outline_strip(struct outline *outline, const struct batch_series *series, const float *waits);
void outline_row(struct outline *outline, enum page_color tone);
void outline_sign(struct outline *outline, const char *sign); /* before the cell to come */
void outline_share(struct outline *outline, double share, int part);
__attribute__((format(printf, 2, 3))) void outline_cell(struct outline *outline, const char *format,
							...);

/* Adds a row with a first cell. */
#define outline_first(outline, tone, ...)                                                          \
	(outline_row(outline, tone), outline_cell(outline, __VA_ARGS__))

/* Adds cells with these texts to the row. */
void outline_texts(struct outline *outline, const char *const *texts);
#define outline_more(outline, ...) outline_texts(outline, (const char *const[]){__VA_ARGS__, NULL})

/* Adds a row with cells of these texts. */
#define outline_cells(outline, ...)                                                                \
	(outline_row(outline, PAGE_PLAIN), outline_more(outline, __VA_ARGS__))

#define outline_item(outline, label, ...)                                                          \
	(outline_cells(outline, label), outline_cell(outline, __VA_ARGS__))

/* Adds an item that warns. */
#define outline_warning(outline, label, ...)                                                       \
	(outline_first(outline, PAGE_YELLOW, label), outline_cell(outline, __VA_ARGS__))

/* Add rows to a table headed OUTLINE_PARTS: a time, its share of `whole_ns` if known, and words. */
#define OUTLINE_PARTS "", "#Time", "#Share", ""
void outline_time(struct outline *outline, const char *label, double ns, double whole_ns);
#define outline_part(outline, label, ns, whole_ns, ...)                                            \
	(outline_time(outline, label, ns, whole_ns), outline_cell(outline, __VA_ARGS__))

/* Writes an outline and frees it. Returns 0 or -ENOMEM. */
int outline_show(struct outline *outline, const struct page *page, bool markdown);

void outline_markdown(const struct outline *outline, FILE *out);

/* Print parts of an outline on a terminal, with blank lines between blocks (outline_text.c). */
void outline_text_head(const struct outline_block *block, const struct page *page);
void outline_text_verdict(const struct outline_block *block, const struct page *page);

void outline_text_items(const struct outline_block *block, const struct page *page, int hang);

void outline_text_blocks(const struct outline *outline, size_t first, const struct page *page);
