/* SPDX-License-Identifier: Apache-2.0 */
/* put.h - writes HTML: dlprof's own markup, and text from outside, which it escapes. */
#pragma once

#include <string.h>

#include "render/form/outline.h"
#include "render/form/units.h"
#include "render/html/html.h"

struct html {
	FILE *out;
	const struct html_input *input;
	const struct report *report;
	const struct outline *outline; /* outline of the report */
	int figure_count; /* number of figures so far, used for ids */
};

/* Writes markup. Arguments must be numbers, or literals of this program: nothing is escaped. */
__attribute__((format(printf, 2, 3))) void html_put(struct html *html, const char *format, ...);

/* Writes text, or an attribute's value in double quotes; escapes whatever it contains. */
void html_text(struct html *html, const char *text);

/* Writes a formatted text as html_text() does. */
__attribute__((format(printf, 2, 3))) void html_say(struct html *html, const char *format, ...);

/* Writes a formatted, escaped text inside an element. `tag` may include attributes. */
#define html_element(html, tag, ...)                                                               \
	(html_put(html, "<%s>", tag), html_say(html, __VA_ARGS__),                                 \
	 html_put(html, "</%.*s>", (int)strcspn(tag, " "), tag))
#define html_cell(html, ...)   html_element(html, "td", __VA_ARGS__)
#define html_number(html, ...) html_element(html, "td class=\"n\"", __VA_ARGS__)

/* Writes a paragraph with a formatted, escaped text. `class` is "" for none. */
#define html_paragraph(html, class, ...)                                                           \
	(html_put(html, "<p%s%s%s>", *(class) ? " class=\"" : "", class, *(class) ? "\"" : ""),    \
	 html_say(html, __VA_ARGS__), html_put(html, "</p>\n"))

/* Returns the class of a tone. */
const char *html_tone(enum page_color tone);

void html_path(struct html *html, const char *path);

/* As units_time(), but with the Greek letter in microseconds. */
const char *html_time(char *buffer, double ns);
#define HTML_TIME(ns) html_time(UNITS_BUFFER, ns)

/* Begins a section of the page, with a heading. */
void html_section(struct html *html, const char *id, const char *title);
void html_section_end(struct html *html);

/* Begins a table. NULL ends the headings, '#' begins that of a number; caption "": no caption. */
void html_table_begin(struct html *html, const char *caption, const char *const *headings);
void html_table_end(struct html *html);

/* Begins a table of a figure's numbers, which is folded until the reader opens it. */
void html_numbers(struct html *html, const char *caption, const char *const *headings);
void html_numbers_end(struct html *html);
