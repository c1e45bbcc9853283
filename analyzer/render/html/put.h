/* SPDX-License-Identifier: Apache-2.0 */
/* put.h - writes HTML: dlprof's markup, escaped text, figures as SVG, and the page's sections. */
#pragma once

#include <string.h>

#include "render/form/outline.h"
#include "render/form/units.h"
#include "render/html/html.h"

struct html {
	FILE *out;
	const struct html_input *input;
	const struct report *report;
	const struct outline *outline;
	int figure_count;
};

/* Writes markup. Arguments must be numbers, or literals of this program: nothing is escaped. */
__attribute__((format(printf, 2, 3))) void html_put(struct html *html, const char *format, ...);

/* Writes escaped text; also fit for the value of an attribute in double quotes. */
void html_text(struct html *html, const char *text);

__attribute__((format(printf, 2, 3))) void html_say(struct html *html, const char *format, ...);

/* Writes a formatted, escaped text inside an element. `tag` may include attributes. */
#define html_element(html, tag, ...)                                                               \
	(html_put(html, "<%s>", tag), html_say(html, __VA_ARGS__),                                 \
	 html_put(html, "</%.*s>", (int)strcspn(tag, " "), tag))
#define html_cell(html, ...)   html_element(html, "td", __VA_ARGS__)
#define html_number(html, ...) html_element(html, "td class=\"n\"", __VA_ARGS__)

/* Writes a paragraph, without a class if `class` is "". */
#define html_paragraph(html, class, ...)                                                           \
	(html_put(html, "<p%s%s%s>", *(class) ? " class=\"" : "", class, *(class) ? "\"" : ""),    \
	 html_say(html, __VA_ARGS__), html_put(html, "</p>\n"))

const char *html_tone(enum page_color tone);

#define html_path(html, path)                                                                      \
	(html_put(html, "<code>"), html_text(html, path), html_put(html, "</code>"))

void html_section(struct html *html, const char *id, const char *title);
void html_section_end(struct html *html);

/* Writes a section of these chapters, if any of them has rows. */
void html_chapters(struct html *html, const char *id, const char *title,
		   const char *const *chapters);
#define html_section_of(html, id, title, ...)                                                      \
	html_chapters(html, id, title, (const char *const[]){__VA_ARGS__, NULL})

/* Begins a table. caption "": none. "#" begins a number column's heading; NULL: end. */
void html_table_begin(struct html *html, const char *caption, const char *const *headings);
void html_table_end(struct html *html);

/* Begins a table that is hidden until the reader opens it. */
void html_numbers_begin(struct html *html, const char *caption, const char *const *headings);
#define html_numbers(html, caption, ...)                                                           \
	html_numbers_begin(html, caption, (const char *const[]){__VA_ARGS__, NULL})
void html_numbers_end(struct html *html);

#define FIGURE_WIDTH 720.0
#define FIGURE_LEFT  84.0
#define FIGURE_RIGHT 708.0

struct figure {
	struct html *html;
	double left, right, top, bottom;
	double x_low, x_high, y_high;    /* the range of y begins at 0 */
};

/* Begins a figure. `height` is that of the plot without axes; `name` is the class of the <svg>. */
__attribute__((format(printf, 6, 7))) void figure_begin(struct html *html, struct figure *ret,
							const char *name, double height,
							const char *title, const char *format, ...);
void figure_end(struct figure *figure);

double figure_x(const struct figure *figure, double value);

/* Returns the y coordinate of a value; values above y_high are at the plot's edge. */
double figure_y(const struct figure *figure, double value);

void figure_bar(const struct figure *figure, double x, double x2, double from, double to);

void figure_y_axis(struct figure *figure, bool has_times);

void figure_x_numbers(struct figure *figure, const char *name);
void figure_x_times(struct figure *figure, const char *name);

struct figure_key {
	const char *class;
	const char *words;
};

/* Writes the figure's legend after figure_end(). A row without `words` ends the list. */
void figure_put_keys(struct html *html, const struct figure_key *keys);
#define figure_keys(html, ...) figure_put_keys(html, (const struct figure_key[]){__VA_ARGS__, {0}})

struct figure_part {
	const char *words, *class;
	double share;	   /* 0 or NAN: not in the bar, only in the words below it */
	const char *value; /* NULL: none */
};

/* Draws a bar of parts, and words below it. Parts without share and value are left out. */
void figure_balance(struct html *html, const struct figure_part *parts, size_t count,
		    const char *title, const char *description);

/* Sorts `values`. Returns the upper end of a scale on which nearly all of them fit. */
double figure_scale(double *values, size_t count);
#define FIGURE_SCALE_WORDS "What is longer than the scale ends at its top."

void html_heading(struct html *html, enum stall_verdict verdict);

void html_run(struct html *html, const char *command);
void html_answer(struct html *html, enum stall_verdict verdict, const char *range);

void html_header(struct html *html);
void html_timeline(struct html *html);
void html_stages(struct html *html);
void html_gpu(struct html *html);
int html_pattern(struct html *html);
void html_life(struct html *html);
void html_lanes(struct html *html);
void html_predict(struct html *html);
void html_code(struct html *html);
int html_data(struct html *html);

void html_items(struct html *html, const char *chapter, const char *class);

void html_blocks(struct html *html, const char *chapter);

void html_head(struct html *html, bool has_script, const char *name);
void html_foot(struct html *html);

/* Writes the stack samples for flame.js. Returns 0 or -ENOMEM. */
struct jsonw;
int html_flames(const struct report *report, struct jsonw *json);
