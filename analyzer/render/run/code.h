/* SPDX-License-Identifier: Apache-2.0 */
/* code.h - the lines of code with the largest shares of loads, waits and steps, in words. */
#pragma once

#include "analysis/cause/lines.h"

#define CODE_WORDS 256 /* bytes for a place or a function's name */

/* The facts with which names of files are shortened. */
struct code_names {
	const struct line_samples *samples;
	const char *root; /* folder in which the program was started; NULL: not known */
	size_t root_length;
	const char **files; /* all files, sorted so that those with equal ends are neighbours */
	size_t file_count;
};

/* Collects the facts for shortening names. `command` may be NULL. No memory: less exact names. */
struct code_names code_names(const struct line_samples *samples, const char *command);
void code_names_done(struct code_names *names);

/*
 * Writes a frame's place: "train.py:12". A path begins after the program's folder, or after a
 * library's folder of packages; other paths have their last two names, or as many as distinguish
 * the file.
 */
const char *code_place(const struct code_names *names, uint32_t frame, char *buffer);
#define CODE_PLACE(names, frame) code_place(names, frame, (char[CODE_WORDS]){0})

/* Writes a frame's function: "Balanced.__iter__", without Python's "<locals>.". */
const char *code_function(const struct code_names *names, uint32_t frame, char *buffer);
#define CODE_FUNCTION(names, frame) code_function(names, frame, (char[CODE_WORDS]){0})

/* Adds the chapter "code", or why it has no lines; adds nothing if nothing is known. */
struct outline;
struct report;
void code_outline(const struct report *report, struct outline *outline);

/*
 * Appends the line with the largest share of the cause's time: "collate, train.py:12, takes 80 % (±
 * 4) of a load". Returns false if samples show none, or if the report covers only a part of the
 * run.
 */
bool code_add_named(const struct report *report, char *text, size_t size);

/*
 * Appends the leading line in a group of samples, as "collate, train.py:12, takes 80 % (± 4) of a
 * load". Returns false if no line has a tenth beyond its error, or if the report covers only a part
 * of the run.
 */
bool code_add_lead(const struct report *report, enum line_group group, char *text, size_t size);

/*
 * A line of code for programs: those with a hundredth of a group or more. `place` is less than
 * CODE_LINES; `share` is NULL if no line has that place.
 */
struct code_line {
	const struct line_share *share;
	const char *phase;
};
#define CODE_MOST_LINES 16 /* most lines of a group, and of other threads in that group */
#define CODE_LINES      (LINE_GROUP_MAX * 2 * CODE_MOST_LINES)
struct code_line code_line_at(const struct report *report, size_t place);

/* Adds where the first few stuck processes are: "worker 3: 41 min in recv(), s3client.py:88". */
struct doing;
void code_stuck(const struct code_names *names, const struct doing *stuck, size_t count,
		struct outline *outline);
