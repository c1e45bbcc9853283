/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outline.h - the content of a report without its form: blocks of rows, where a row has a label, a
 * value, further cells, and a tone. Text, Markdown and HTML show the same outline, so that no two
 * of them say different things.
 */
#pragma once

#include <stddef.h>

#include "render/form/page.h"

#define OUTLINE_CELLS 9

/* Chapters with the same layout in text, Markdown and HTML. */
#define OUTLINE_HEAD    "head"    /* program, amount of data and name of each run */
#define OUTLINE_VERDICT "verdict" /* verdict, a sentence without its full stop, paragraphs */
#define OUTLINE_MORE    "more"    /* commands to type next, shown on a terminal only */

struct batch_series;

struct outline_row {
	char *cells[OUTLINE_CELLS]; /* of an item: label, text, and text below the text or NULL */
	size_t count;
	double share; /* share of the block's bar, or length of the row's own bar; NAN: no bar */
	int part;     /* part of the bar: enum account_part; ACCOUNT_PART_MAX: the steps */
	enum page_color tone;
	const char *sign; /* sign before the text of cell `signed_cell`, in pages; NULL: none */
	size_t signed_cell;
};

/* Rows with the same columns. A block without rows is not shown. */
struct outline_block {
	const char *chapter; /* blocks of one chapter are neighbours */
	char *title;         /* NULL: no title */
	/* A table's headings, ended by NULL; "#" begins the heading of a number. Items have
	 * none. */
	const char *headings[OUTLINE_CELLS + 1];
	struct outline_row *rows;
	size_t count;
	/* On a terminal, waits of `series` to draw as a strip above the rows; NULL: no strip. */
	const struct batch_series *series;
	const float *waits;
};

struct outline {
	struct outline_block *blocks;
	size_t count;
	bool failed; /* an allocation failed, so the outline is incomplete */
};

/* Frees an outline; outlines begin as all zero. */
void outline_done(struct outline *outline);

/* Returns the first block of a chapter; NULL if there is none. */
const struct outline_block *outline_find(const struct outline *outline, const char *chapter);

/*
 * Functions that make an outline. A block is open until the next one; a row gets its cells from
 * left to right. `chapter` and `headings` must outlive the outline.
 */
void outline_items(struct outline *outline, const char *chapter);
void outline_table(struct outline *outline, const char *chapter, const char *const *headings);
__attribute__((format(printf, 2, 3))) void outline_title(struct outline *outline,
							 const char *format, ...);
void outline_strip(struct outline *outline, const struct batch_series *series, const float *waits);
void outline_row(struct outline *outline, enum page_color tone);
void outline_sign(struct outline *outline, const char *sign); /* before the next cell */
void outline_share(struct outline *outline, double share, int part);
__attribute__((format(printf, 2, 3))) void outline_cell(struct outline *outline, const char *format,
							...);

/* Adds a row with these texts as cells; NULL ends them. */
__attribute__((sentinel)) void outline_cells(struct outline *outline, ...);

/* Adds an item: a row with a label and a text. */
#define outline_item(outline, label, ...)                                                          \
	(outline_cells(outline, label, NULL), outline_cell(outline, __VA_ARGS__))

/* Adds a row with a time, its share of a whole (NAN: no share) and an explanation. */
extern const char *const OUTLINE_PARTS[];
void outline_time(struct outline *outline, const char *label, double ns, double whole_ns);
#define outline_part(outline, label, ns, whole_ns, ...)                                            \
	(outline_time(outline, label, ns, whole_ns), outline_cell(outline, __VA_ARGS__))

/* Prints the outline as text or Markdown, then calls outline_done(). Returns 0 or -ENOMEM. */
int outline_show(struct outline *outline, const struct page *page, bool markdown);

/* Prints the outline as Markdown, for issues, pull requests and jobs' pages (markdown.c). */
void outline_markdown(const struct outline *outline, FILE *out);
