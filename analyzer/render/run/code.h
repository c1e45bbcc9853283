/* SPDX-License-Identifier: Apache-2.0 */
/* code.h - writes the lines of code with the largest shares of loads, waits and steps. */
#pragma once

#include "analysis/cause/lines.h"

#define CODE_WORDS 256 /* size of a buffer for a place or a function's name */

/* What is needed to shorten names of files. */
struct code_names {
	const struct line_samples *samples;
	const char *root; /* folder from which the program was started; NULL: not known */
	size_t root_length;
	const char **files; /* all files, sorted such that equal ends of paths are neighbours */
	size_t file_count;
};

/* Collects what shortening needs. `command` may be NULL. Without memory, names are less exact. */
struct code_names code_names(const struct line_samples *samples, const char *command);
void code_names_done(struct code_names *names);

/*
 * Writes a frame's place: "train.py:12". Of a path, it writes the part below the program's folder,
 * or below a library's folder of packages; of other paths the last two names, or as many as
 * distinguish the file from others.
 */
const char *code_place(const struct code_names *names, uint32_t frame, char *buffer);
#define CODE_PLACE(names, frame) code_place(names, frame, (char[CODE_WORDS]){0})

/* Writes a frame's function: "Balanced.__iter__", without Python's "<locals>.". */
const char *code_function(const struct code_names *names, uint32_t frame, char *buffer);
#define CODE_FUNCTION(names, frame) code_function(names, frame, (char[CODE_WORDS]){0})

/* Adds the chapter "code", or the reason why it has no lines; nothing if neither is known. */
struct outline;
struct report;
void code_outline(const struct report *report, struct outline *outline);

/*
 * Appends the line with the largest share of the time that the cause costs: "collate, train.py:12,
 * takes 80 % (± 4) of a load". Returns false if no line leads, or if the report covers only a part
 * of the run.
 */
bool code_add_named(const struct report *report, char *text, size_t size);

/*
 * Appends the leading line of a group, as code_add_named() does. Returns false if no line has a
 * share of a tenth plus its error, or if the report covers only a part of the run.
 */
bool code_add_lead(const struct report *report, enum line_group group, char *text, size_t size);

/*
 * A line of code for JSON, with at least a hundredth of its group's time. `place` goes from 0 to
 * CODE_LINES - 1; `share` is NULL if there is no line at that place.
 */
struct code_line {
	const struct line_share *share;
	const char *phase;
};
#define CODE_MOST_LINES 16 /* largest number of lines of a group, and of those in other threads */
#define CODE_LINES      (LINE_GROUP_MAX * 2 * CODE_MOST_LINES)
struct code_line code_line_at(const struct report *report, size_t place);

/* Adds where the first few stuck processes are: "worker 3: 41 min in recv(), s3client.py:88". */
struct doing;
void code_stuck(const struct code_names *names, const struct doing *stuck, size_t count,
		struct outline *outline);
