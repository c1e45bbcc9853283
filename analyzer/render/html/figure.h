/* SPDX-License-Identifier: Apache-2.0 */
/* figure.h - a figure as inline SVG: named, described, with axes in round numbers. */
#pragma once

#include "render/html/put.h"

#define FIGURE_WIDTH 720.0
#define FIGURE_LEFT  84.0 /* room for what stands at the axis */
#define FIGURE_RIGHT 708.0

struct figure {
	struct html *html;
	double left, right, top, bottom; /* of the plot within the picture */
	double x_low, x_high, y_high;    /* what is shown; y begins at 0 */
};

/* `height` of the plot; the picture has room above and below. `name` is a class of the <svg>. */
__attribute__((format(printf, 6, 7))) void figure_begin(struct html *html, struct figure *ret,
							const char *name, double height,
							const char *title, const char *format, ...);
void figure_end(struct figure *figure);

double figure_x(const struct figure *figure, double value);

/* What is above the plot ends at its edge. */
double figure_y(const struct figure *figure, double value);

/* One more bar of an open path, from x to x2; none where nothing would be seen of it. */
void figure_bar(const struct figure *figure, double x, double x2, double from, double to);

/* Lines and labels from 0 to y_high, of times or of plain numbers. */
void figure_y_times(struct figure *figure);
void figure_y_numbers(struct figure *figure);

/* Ticks and labels from x_low to x_high, and the name of the axis. */
void figure_x_numbers(struct figure *figure, const char *name);
void figure_x_times(struct figure *figure, const char *name);

/* One of a row of keys above the plot: a swatch of the class, and what it means. */
struct figure_key {
	const char *class;
	const char *words;
};

/* After figure_end(); NULL words end the list. */
void figure_keys(struct html *html, const struct figure_key *keys);

/* What a whole is made of. */
struct figure_part {
	const char *words, *class;
	double share;	   /* 0, NAN: no part, but named below it */
	const char *value; /* beside the words; NULL: none */
};

/* As one bar, and below it what its colours are; parts of no length and no value are left out. */
void figure_balance(struct html *html, const struct figure_part *parts, size_t count,
		    const char *title, const char *description);

/* A scale's end that nearly all of the values are below. They are sorted. */
double figure_scale(double *values, size_t count);
#define FIGURE_SCALE_WORDS "What is longer than the scale ends at its top."
