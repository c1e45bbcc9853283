/* SPDX-License-Identifier: Apache-2.0 */
/* page.h - writes text to a terminal, wrapped and without control characters. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define PAGE_WIDTH     80
#define PAGE_NARROWEST 40

struct page {
	FILE *out;
	bool color;
	bool ascii;
	int width;  /* columns of a line, at least PAGE_NARROWEST */
};

enum page_color {
	PAGE_PLAIN,
	PAGE_BOLD,
	PAGE_DIM,
	PAGE_RED,
	PAGE_YELLOW,
	PAGE_GREEN,
	PAGE_COLOR_MAX
};

/* Sets the colour of what follows; PAGE_PLAIN resets it. */
void page_color(const struct page *page, enum page_color color);

/*
 * Prints a label at column `indent`, and a text of which all lines begin at column `hang`. If the
 * label reaches `hang`, a space follows it. On a narrow page the text is below the label.
 */
__attribute__((format(printf, 5, 6))) void page_entry(const struct page *page, int indent, int hang,
						      const char *label, const char *format, ...);

/* Appends to a text of `size` bytes. If it does not fit, it is cut and ends in "...". */
__attribute__((format(printf, 3, 4))) void page_append(char *text, size_t size, const char *format,
						       ...);

/* A text in a buffer, to which page_append() appends. TEXT_OF(room) makes an empty text. */
struct text {
	char *words;
	size_t size;
};
#define TEXT_OF(room)       ((struct text){(char[room]){0}, room})
#define text_add(text, ...) page_append((text)->words, (text)->size, __VA_ARGS__)

/* Returns the length of a sentence without the full stop at its end. */
int page_clause(const char *sentence);

void page_put_word(FILE *out, const char *word);
void page_append_word(char *text, size_t size, const char *word);

/* Prints a line of text. If it is wider than the page, it is cut and ends in "...". */
__attribute__((format(printf, 2, 3))) void page_line(const struct page *page, const char *format,
						     ...);

struct utf8;
int page_columns(const struct page *page, const char *text);
int page_columns_of(const struct page *page, const struct utf8 *rune);

void page_break(const struct page *page);
