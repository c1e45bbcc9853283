/* SPDX-License-Identifier: Apache-2.0 */
/* code.h - writes the lines of code with the largest shares of loads, waits and steps. */
#pragma once

#include "analysis/cause/lines.h"

#define CODE_WORDS 256

struct report;

/* Finds what code_place() needs. If memory runs out, names may be ambiguous. */
void code_find_names(struct report *report);

/*
 * Writes "train.py:12". The path is relative to the folder of the program or of a library. Paths
 * elsewhere keep only as many of their last folders as tell the files apart.
 */
const char *code_place(const struct report *report, uint32_t frame, char *buffer);
#define CODE_PLACE(report, frame) code_place(report, frame, (char[CODE_WORDS]){0})

/* Writes "Balanced.__iter__", without Python's "<locals>." */
const char *code_function(const struct report *report, uint32_t frame, char *buffer);
#define CODE_FUNCTION(report, frame) code_function(report, frame, (char[CODE_WORDS]){0})

struct outline;
struct text;
void code_outline(const struct report *report, struct outline *outline);

/*
 * Appends which line of code fits the cause, and what it takes: "collate, train.py:12, takes 80 %
 * (± 4) of a load". Returns false if no line fits, or if the report is on a part of the run.
 */
bool code_add_named(const struct report *report, struct text *text);

/* Returns the line of code_add_named(); NULL if it is of another group or of another thread. */
const struct line_share *code_named(const struct report *report, enum line_group group);

/* Like code_add_named(), but names a group's largest line, if it surely takes 10 % or more. */
bool code_add_lead(const struct report *report, enum line_group group, struct text *text);

/*
 * Appends the name of the function whose line code_named() returns, or "line train.py:12" if each
 * dataset has a function of that name, such as __getitem__(). Returns false if there is no such
 * line, if it is a library's, or if its function may take less than half of this group's time.
 */
bool code_add_leader(const struct report *report, enum line_group group, bool begins_sentence,
		     struct text *text);

/* Returns true if the function of code_add_leader() makes an object (__init__()). */
bool code_is_leader_maker(const struct report *report, enum line_group group);

struct code_line {
	const struct line_share *share;
	const char *phase;
};
#define CODE_MOST_LINES 16 /* most lines of a group, and of threads that held it up meanwhile */
#define CODE_LINES      (LINE_GROUP_MAX * 2 * CODE_MOST_LINES)
/* Returns line `place`, from 0 to CODE_LINES - 1, for JSON. `share` is NULL if it has no line. */
struct code_line code_line_at(const struct report *report, size_t place);

void code_stuck(const struct report *report, struct outline *outline);
