/* SPDX-License-Identifier: Apache-2.0 */
/* code.h - writes the lines of code with the largest shares of loads, waits and steps. */
#pragma once

#include "analysis/cause/lines.h"

#define CODE_WORDS 256

struct code_names {
	const struct line_samples *samples;
	const char *root; /* folder from which the program was started; NULL: not known */
	size_t root_length;
	const char **files; /* sorted such that equal ends of paths are neighbours */
	size_t file_count;
};

/* `command` may be NULL. Without memory, names are less exact. */
struct code_names code_names(const struct line_samples *samples, const char *command);
void code_names_done(struct code_names *names);

/*
 * "train.py:12": below the program's folder or a library's, else as few names as tell files apart.
 */
const char *code_place(const struct code_names *names, uint32_t frame, char *buffer);
#define CODE_PLACE(names, frame) code_place(names, frame, (char[CODE_WORDS]){0})

/* "Balanced.__iter__", without Python's "<locals>." */
const char *code_function(const struct code_names *names, uint32_t frame, char *buffer);
#define CODE_FUNCTION(names, frame) code_function(names, frame, (char[CODE_WORDS]){0})

struct outline;
struct report;
void code_outline(const struct report *report, struct outline *outline);

/*
 * Appends "collate, train.py:12, takes 80 % (± 4) of a load". Returns false if no line leads, or
 * for a part of a run.
 */
bool code_add_named(const struct report *report, char *text, size_t size);

/* Returns false if no line has a tenth plus its error, or for a part of a run. */
bool code_add_lead(const struct report *report, enum line_group group, char *text, size_t size);

/* `place` is from 0 to CODE_LINES - 1; `share` is NULL if there is no line at it. */
struct code_line {
	const struct line_share *share;
	const char *phase;
};
#define CODE_MOST_LINES 16 /* most lines of a group, and of its lines in other threads */
#define CODE_LINES      (LINE_GROUP_MAX * 2 * CODE_MOST_LINES)
struct code_line code_line_at(const struct report *report, size_t place);

struct doing;
void code_stuck(const struct code_names *names, const struct doing *stuck, size_t count,
		struct outline *outline);
