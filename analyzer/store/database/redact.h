/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redact.h - --redact: names of files, folders, runs, hosts and jobs, command lines, and texts of
 * marks are printed as "file-3", "host-1". The same name gives the same word throughout an output,
 * different names give different words, and a word reveals nothing of the name but when it was
 * first printed.
 *
 * Every text of a database is redacted where it is read (rows_text()), so that no output can forget
 * it; the commands do the same with the paths of runs that they were given. Numbers, and names of
 * classes, transforms and modules are shown; those of functions in samples of lines, and of
 * threads, are hidden.
 */
#pragma once

#include <stdbool.h>

enum redact_kind {
	REDACT_NOT,     /* a word of dlprof: a key, a class of operation */
	REDACT_TEXT,    /* free text: paths, quoted strings and known hosts in it are hidden */
	REDACT_CALL,    /* "read /a/path": the path is hidden */
	REDACT_COMMAND, /* shown as "program arguments-1" */
	REDACT_PLACE,   /* "train.py:41 in main" */
	REDACT_ARGUMENTS,
	REDACT_FILE,
	REDACT_FOLDER,
	REDACT_RUN,
	REDACT_HOST,
	REDACT_JOB,
	REDACT_PEER, /* "10.0.0.7:443", a path, or a word of dlprof */
	REDACT_MARK,
	REDACT_OTHER, /* any word that is not a number */
	REDACT_MAX
};

/* Switches redaction on. Before that, the functions below return texts as they are. */
void redact_begin(void);
bool redact_is_on(void);

/* Returns what to show of `text`, which may be NULL; valid as long as the program or `text`. */
const char *redact(enum redact_kind kind, const char *text);

/* Returns the kind of a view's column; for `meta`, whose rows differ, see meta.h. */
enum redact_kind redact_kind_of_column(const char *view, const char *column);
