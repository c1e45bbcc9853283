/* SPDX-License-Identifier: Apache-2.0 */
/* put.h - write HTML: our own markup, and the text of others, which is escaped. */
#pragma once

#include <string.h>

#include "render/form/outline.h"
#include "render/form/units.h"
#include "render/html/html.h"

struct html {
	FILE *out;
	const struct html_input *input;
	const struct report *report;
	const struct outline *outline; /* of it */
	int figure_count; /* ids so far */
};

/* Markup of ours: what goes in is numbers, or literals of this program. */
__attribute__((format(printf, 2, 3))) void html_put(struct html *html, const char *format, ...);

/* Text or the value of an attribute in double quotes, whatever it holds. */
void html_text(struct html *html, const char *text);

/* The same of a formatted text. */
__attribute__((format(printf, 2, 3))) void html_say(struct html *html, const char *format, ...);

/* The same in an element: `tag` may have attributes. */
#define html_element(html, tag, ...)                                                               \
	(html_put(html, "<%s>", tag), html_say(html, __VA_ARGS__),                                 \
	 html_put(html, "</%.*s>", (int)strcspn(tag, " "), tag))
#define html_cell(html, ...)   html_element(html, "td", __VA_ARGS__)
#define html_number(html, ...) html_element(html, "td class=\"n\"", __VA_ARGS__)

/* A paragraph of a formatted text; `class` "" for none. */
#define html_paragraph(html, class, ...)                                                           \
	(html_put(html, "<p%s%s%s>", *(class) ? " class=\"" : "", class, *(class) ? "\"" : ""),    \
	 html_say(html, __VA_ARGS__), html_put(html, "</p>\n"))

/* The class of a tone. */
const char *html_tone(enum page_color tone);

void html_path(struct html *html, const char *path);

/* As units_time(), with the letter that it lacks in ASCII. */
const char *html_time(char *buffer, double ns);
#define HTML_TIME(ns) html_time(UNITS_BUFFER, ns)

/* A part of the page, with its heading. */
void html_section(struct html *html, const char *id, const char *title);
void html_section_end(struct html *html);

/* A table; headings that begin with '#' are of numbers. NULL ends them. Caption "": none. */
void html_table(struct html *html, const char *caption, const char *const *headings);
void html_table_end(struct html *html);

/* A table, folded away: a figure's numbers. */
void html_numbers(struct html *html, const char *caption, const char *const *headings);
void html_numbers_end(struct html *html);
