/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - the command line of dlprof-report, from one table that parses it and is its help.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define OPTIONS_MOST_META 32

enum verb { VERB_REPORT, VERB_BATCHES, VERB_IMPORT, VERB_MAX };

enum color_choice {
	COLOR_AUTO,
	COLOR_ALWAYS,
	COLOR_NEVER,
};

struct options {
	enum verb verb;
	const char *run;     /* the database, or the table to import */
	const char *output;  /* NULL: stdout */
	const char *explain; /* an id, or NULL: nothing is to be explained */
	const char *meta[OPTIONS_MOST_META]; /* KEY=VALUE each */
	size_t meta_count;
	bool help, version;
	bool json, csv;
	bool force, quiet, ascii;
	enum color_choice color;
	int64_t rank, epoch, loader; /* -1: not given */
	int64_t first, last;         /* of --batches; -1: open */
	char problem[300];           /* what is wrong with the command line */
};

/* 0, or -EINVAL with `problem` saying why. Where help or version is asked for, nothing else is. */
int options_parse(struct options *ret, int argc, char **argv);

void options_help(FILE *out);

#endif
