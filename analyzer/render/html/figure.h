/* SPDX-License-Identifier: Apache-2.0 */
/* figure.h - writes figures as inline SVG: named, described, with axes in round numbers. */
#pragma once

#include "render/html/put.h"

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
