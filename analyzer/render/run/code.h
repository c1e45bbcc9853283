/* SPDX-License-Identifier: Apache-2.0 */
/* code.h - the lines of code that lead, in words: where the time of loads, waits and steps is
 * spent. */
#pragma once

#include "analysis/cause/lines.h"

#define CODE_WORDS 256 /* bytes of a place or a function */

/* What is shown of the names of files. */
struct code_names {
	const struct line_samples *samples;
	const char *root; /* begins the paths of the program's files; NULL: not known */
	size_t root_length;
	const char **files; /* all, those that end alike beside each other */
	size_t file_count;
};

/* `command` may be NULL. Without memory names may be those of several files. */
struct code_names code_names(const struct line_samples *samples, const char *command);
void code_names_done(struct code_names *names);

/*
 * "train.py:12": of files of the program, their path in its folder; of a library's, that in its
 * folder of packages; else two names of the path, or as many as no other file's path ends with.
 */
const char *code_place(const struct code_names *names, uint32_t frame, char *buffer);
#define CODE_PLACE(names, frame) code_place(names, frame, (char[CODE_WORDS]){0})

/* "Balanced.__iter__": the name without what Python adds where functions are in one another. */
const char *code_function(const struct code_names *names, uint32_t frame, char *buffer);
#define CODE_FUNCTION(names, frame) code_function(names, frame, (char[CODE_WORDS]){0})

/* The chapter "code", or why there are no lines. Nothing, where nothing is known. */
struct outline;
struct report;
void code_outline(const struct report *report, struct outline *outline);

/*
 * Adds what of the cause's time one line takes: "collate, train.py:12, takes 80 % (± 4) of a load".
 * False: the samples do not say that of a line, or the report is not of the whole run, as they are.
 */
bool code_add_named(const struct report *report, char *text, size_t size);

/*
 * Adds the line that leads in a group of samples, as "collate, train.py:12, takes 80 % (± 4) of a
 * load". False: none has a tenth of it beyond its error, or the report is not of the whole run.
 */
bool code_add_lead(const struct report *report, enum line_group group, char *text, size_t size);

/* "lines", those of each group with a hundredth of it; null: not observed. */
struct jsonw;
void code_json(const struct report *report, struct jsonw *json);

/* "worker 3: 41 min in recv(), s3client.py:88": rows of the open items, the first few. */
struct doing;
void code_stuck(const struct code_names *names, const struct doing *stuck, size_t count,
		struct outline *outline);

/* "stuck": the same, all of them. */
void code_stuck_json(const struct line_samples *samples, const struct doing *stuck, size_t count,
		     struct jsonw *json);
