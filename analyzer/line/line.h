/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.h - command lines from a table: its rows parse them, and make their help, man page and
 * completions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define LINE_ON(verb)     (1u << (verb))
#define LINE_MOST_OPTIONS 64

#define LINE_HELP_HELP    "this; after a verb, its options"
#define LINE_HELP_VERSION "the version"

struct line_verb {
	const char *name;      /* "": what is done without a verb */
	const char *arguments; /* "RUN.db", for the usage line */
	const char *help;
	int fewest, most;  /* words after the verb; most -1: any number */
	bool passes_on;    /* after the first word come no options of ours: `run -- CMD...` */
	const char *about; /* paragraphs, separated by an empty line; NULL: `help` says it all */
	const char *(*names)(size_t i); /* for completions: possible words, ended by NULL */
};

enum line_kind {
	LINE_TAKE,  /* `take` is called with the argument */
	LINE_FLAG,  /* a bool at `offset` becomes true */
	LINE_TEXT,  /* a const char * at `offset` becomes the argument, which may not be empty */
	LINE_WHOLE, /* an int64_t at `offset` becomes a whole number from 0 */
};

struct line_option {
	const char *name;
	char letter;          /* 0: it has none */
	const char *argument; /* NULL: it takes none */
	const char *values;   /* "auto|always|never": all values; NULL: anything */
	const char *(*names)(size_t i); /* for completions: possible values, ended by NULL */
	const char *help;
	enum line_kind kind;
	size_t offset; /* where the value is in the context */
	/* For LINE_TAKE. False: the argument makes no sense. */
	bool (*take)(void *context, const char *argument);
	bool many; /* further words up to the next option are arguments, too */
	unsigned verbs; /* LINE_ON() for the verbs that it goes with */
};

/* A verb, or an option with its dashes, that the program once had, and what serves instead. */
struct line_gone {
	const char *word, *instead;
};

struct line_program {
	const char *name;
	const char *summary; /* after "NAME - " */
	const struct line_verb *verbs;
	int verb_count;
	const struct line_option *options;
	size_t option_count;
	const struct line_gone *gone; /* ended by one without a word; NULL: none */
	const char *exits; /* "0 done, 2 bad usage" */
	/* For the man page; NULL: nothing. */
	const char *about;    /* paragraphs */
	const char *examples; /* commands, one a line */
	const char *see_also;
};

struct line {
	int verb;
	bool help, version; /* asked for; the rest is then not checked */
	char **words;       /* words after the verb, in argv */
	int word_count;
	char problem[300]; /* what is wrong */
};

/*
 * Parses a line. --help, -h and --version need no row. Options may stand before the verb, as in
 * git. argv may be reordered. 0, or -EINVAL with `problem` set: an option is unknown, or does not
 * go with the verb.
 */
int line_parse(const struct line_program *program, void *context, int argc, char **argv,
	       struct line *ret);

/* Checks that there are as many words as the verb takes. 0, or -EINVAL with `problem` set. */
int line_check_words(const struct line_program *program, struct line *line);

/* What serves instead of a former verb or option of `length` bytes; NULL: it never existed. */
const char *line_instead(const struct line_program *program, const char *word, size_t length);

/* "; did you mean gate?" for a word that is no verb, or "". Returns `text`, of NEAR_WORDS bytes. */
const char *line_near_verb(const struct line_program *program, const char *word, char *text);

/* Sets `problem`; returns -EINVAL. */
__attribute__((format(printf, 2, 3))) int line_problem(struct line *line, const char *format, ...);

/* The help for a verb; for the program with verb -1. */
void line_help(const struct line_program *program, int verb, FILE *out);
