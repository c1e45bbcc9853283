/* SPDX-License-Identifier: Apache-2.0 */
/*
 * put.h - writes HTML: dlprof's own markup, text from outside, which it escapes, figures as inline
 * SVG, and the page's sections.
 */
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

#define html_path(html, path)                                                                      \
	(html_put(html, "<code>"), html_text(html, path), html_put(html, "</code>"))

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

#define FIGURE_WIDTH 720.0
#define FIGURE_LEFT  84.0 /* room for labels left of the axis */
#define FIGURE_RIGHT 708.0

struct figure {
	struct html *html;
	double left, right, top, bottom; /* edges of the plot within the picture */
	double x_low, x_high, y_high;    /* range of values shown; that of y begins at 0 */
};

/*
 * Begins a picture: `height` of the plot alone; `name` of the <svg>'s class; text that describes.
 */
__attribute__((format(printf, 6, 7))) void figure_begin(struct html *html, struct figure *ret,
							const char *name, double height,
							const char *title, const char *format, ...);
void figure_end(struct figure *figure);

double figure_x(const struct figure *figure, double value);

/* Returns the height of a value; values above y_high end at the plot's edge. */
double figure_y(const struct figure *figure, double value);

/* Adds a bar from x to x2 to an open path, unless it is too low to be visible. */
void figure_bar(const struct figure *figure, double x, double x2, double from, double to);

/* Write lines and labels from 0 to y_high, in units of time or as plain numbers. */
void figure_y_times(struct figure *figure);
void figure_y_numbers(struct figure *figure);

/* Write ticks and labels from x_low to x_high, and the axis' name. */
void figure_x_numbers(struct figure *figure, const char *name);
void figure_x_times(struct figure *figure, const char *name);

/* A key of a figure: a colour, given by its class, and what it means. */
struct figure_key {
	const char *class;
	const char *words;
};

/* Writes the keys. Call it after figure_end(). The list ends with NULL as `words`. */
void figure_keys(struct html *html, const struct figure_key *keys);

/* A part of a whole. */
struct figure_part {
	const char *words, *class;
	double share;	   /* 0 or NAN: has no part of the bar, only words below it */
	const char *value; /* words after its name; NULL: none */
};

/* Writes parts as one bar, with words below. Parts without length and value are left out. */
void figure_balance(struct html *html, const struct figure_part *parts, size_t count,
		    const char *title, const char *description);

/* Returns the top of a scale, below which nearly all values are. Sorts `values`. */
double figure_scale(double *values, size_t count);
#define FIGURE_SCALE_WORDS "What is longer than the scale ends at its top."

/* Writes the verdict as the page's heading, with a sign for readers without colour. */
void html_heading(struct html *html, enum stall_verdict verdict);

/* Begin the page's header with the run's name and command; write the verdict's sentence. */
void html_run(struct html *html, const char *command);
void html_answer(struct html *html, enum stall_verdict verdict, const char *range);

void html_verdict(struct html *html);  /* the verdict, why, and what to do */
void html_timeline(struct html *html); /* wait and compute, as a sum and over time */
void html_gpu(struct html *html);      /* busy, idle and why, copies, kernels */
int html_pattern(struct html *html);   /* the period, and the waits by phase */
void html_life(struct html *html);     /* stages of a batch; decoders by format and size */
void html_lanes(struct html *html);    /* what each worker did */
void html_predict(struct html *html);  /* other settings, and sliders */
void html_code(struct html *html);     /* the lines of code with the most time */
int html_data(struct html *html);      /* numbers and stacks for the scripts */

/* Writes a chapter's items as paragraphs: <p class="..."><b>Why.</b> ... */
void html_items(struct html *html, const char *chapter, const char *class);

/* Writes the outline's blocks of a chapter as tables. */
void html_blocks(struct html *html, const char *chapter);

/* Begin and end the page. `name` is the name of the run or the job. */
void html_head(struct html *html, bool has_script, const char *name);
void html_foot(struct html *html);

/* Writes "flames": frames (function, place, is it the user's) and stacks by group. 0 or -ENOMEM. */
struct jsonw;
int html_flames(const struct report *report, struct jsonw *json);
