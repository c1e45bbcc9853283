/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redact.h - --redact: names of files, folders, runs, hosts and jobs, command lines, and what the
 * program says by marks, come out as "file-3", "host-1". The same name gives the same word
 * throughout an output, different names give different words, and a word tells nothing of the name
 * but when it was first seen.
 *
 * Every text of a database goes through here where it is read (rows_text()), so that no output can
 * forget it; the commands do the same with the paths of runs that they were given. Numbers, and
 * names of classes, transforms and modules stay; those of functions in samples of lines, and of
 * threads, go.
 */
#pragma once

#include <stdbool.h>

enum redact_kind {
	REDACT_NOT,     /* a word of ours: a key, a class of operation */
	REDACT_TEXT,    /* paths in it, what it quotes, and names of hosts that were seen */
	REDACT_CALL,    /* "read /a/path" */
	REDACT_COMMAND, /* "program arguments-1" */
	REDACT_PLACE,   /* "train.py:41 in main" */
	REDACT_ARGUMENTS,
	REDACT_FILE,
	REDACT_FOLDER,
	REDACT_RUN,
	REDACT_HOST,
	REDACT_JOB,
	REDACT_PEER, /* "10.0.0.7:443", a path, or a word of ours */
	REDACT_MARK,
	REDACT_OTHER, /* any word that is no number */
	REDACT_MAX
};

/* Redacts from now on. Without it the functions below return the text itself. */
void redact_begin(void);
bool redact_is_on(void);

/* What to show of `text`, which may be NULL; the result lives as long as the program or `text`. */
const char *redact(enum redact_kind kind, const char *text);

/* The kind of a view's column; meta.h has that of a row of `meta`. */
enum redact_kind redact_kind_of_column(const char *view, const char *column);
