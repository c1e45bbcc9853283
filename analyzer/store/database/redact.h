/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redact.h - implements --redact: names are printed as words such as "file-3" or "host-1".
 *
 * Equal names get equal words within an output. A word's number says only in which order names were
 * first printed. Texts of a database are read by rows_text() alone, which redacts them, so no
 * output can forget to. Numbers are printed, and names of classes, transforms and modules.
 */
#pragma once

#include <stdbool.h>

enum redact_kind {
	REDACT_NOT,     /* a key, or a word that dlprof chose: printed as it is */
	REDACT_TEXT,    /* free text: paths, quoted strings and known hosts in it are hidden */
	REDACT_CALL,    /* "read /a/path": only the path is hidden */
	REDACT_COMMAND, /* "/a/program x y" is printed as "program arguments-1" */
	REDACT_PLACE,   /* "/a/train.py:41 in main": only the path is hidden */
	REDACT_ARGUMENTS,
	REDACT_FILE,
	REDACT_FOLDER,
	REDACT_RUN,
	REDACT_HOST,
	REDACT_JOB,
	REDACT_PEER, /* "10.0.0.7:443", a path, or a word that dlprof chose */
	REDACT_MARK,
	REDACT_OTHER, /* hidden unless it is a number */
	REDACT_MAX
};

/* Turns --redact on. Until then, redact() returns texts as they are. */
void redact_begin(void);
bool redact_is_on(void);

/* Returns what is printed for `text` (may be NULL); it is valid as long as `text` itself. */
const char *redact(enum redact_kind kind, const char *text);

/* Returns how a column is printed. In the view `meta` this depends on the key, not the column. */
enum redact_kind redact_kind_of_column(const char *view, const char *column);
