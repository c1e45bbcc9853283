/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.h - the lines of code with the largest shares, in words: where loads and steps spend time.
 */
#pragma once

#include "analysis/cause/lines.h"

#define CODE_WORDS 256 /* room for a place or a function */

/* Facts for shortening the names of files. */
struct code_names {
	const struct line_samples *samples;
	const char *root; /* folder with the program's files, before their paths; NULL: not known */
	size_t root_length;
	const char **files; /* all files, sorted so that those with equal ends are neighbours */
	size_t file_count;
};

/* `command` may be NULL. Without memory, names may be ambiguous. */
struct code_names code_names(const struct line_samples *samples, const char *command);
void code_names_done(struct code_names *names);

/*
 * "train.py:12". Paths begin at the program's folder, or for a library at its folder of packages;
 * otherwise they have two names, or as many as distinguish the file.
 */
const char *code_place(const struct code_names *names, uint32_t frame, char *buffer);
#define CODE_PLACE(names, frame) code_place(names, frame, (char[CODE_WORDS]){0})

/* "Balanced.__iter__": the name without what Python adds for nested functions. */
const char *code_function(const struct code_names *names, uint32_t frame, char *buffer);
#define CODE_FUNCTION(names, frame) code_function(names, frame, (char[CODE_WORDS]){0})

/* Adds the chapter "code", or why it has no lines. Adds nothing if nothing is known. */
struct outline;
struct report;
void code_outline(const struct report *report, struct outline *outline);

/*
 * Appends the share of the cause's time that one line takes: "collate, train.py:12, takes 80 % (±
 * 4) of a load". False: no sample tells that, or the report covers only a part of the run.
 */
bool code_add_named(const struct report *report, char *text, size_t size);

/*
 * Appends the leading line in a group of samples, as "collate, train.py:12, takes 80 % (± 4) of a
 * load". False: no line has a tenth beyond its error, or the report covers only a part of the run.
 */
bool code_add_lead(const struct report *report, enum line_group group, char *text, size_t size);

/*
 * For programs: all lines, those of each group with a hundredth of it. `place` is less than
 * CODE_LINES; `share` is NULL where there is no line.
 */
struct code_line {
	const struct line_share *share;
	const char *phase;
};
#define CODE_MOST_LINES 16 /* of a group, and as many of other threads meanwhile */
#define CODE_LINES      (LINE_GROUP_MAX * 2 * CODE_MOST_LINES)
struct code_line code_line_at(const struct report *report, size_t place);

/* Adds "worker 3: 41 min in recv(), s3client.py:88" to the open items, for the first few. */
struct doing;
void code_stuck(const struct code_names *names, const struct doing *stuck, size_t count,
		struct outline *outline);
