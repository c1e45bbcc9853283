/* SPDX-License-Identifier: Apache-2.0 */
/* line.h - command lines as tables, for parsing, help, man page and completions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define LINE_ON(verb)     (1u << (verb))
#define LINE_MOST_OPTIONS 64

#define LINE_HELP_HELP    "this; after a verb, its options"
#define LINE_HELP_VERSION "the version"

struct line_verb {
	const char *name;      /* "": the program without a verb */
	const char *arguments; /* for the usage line: "RUN.db" */
	const char *help;
	int fewest, most;  /* limits on the number of words after the verb; most -1: no limit */
	bool passes_on;    /* options after the first word are for another command: `run CMD...` */
	const char *about; /* paragraphs, separated by an empty line; NULL: `help` is enough */
	const char *(*names)(size_t i); /* returns word i for completion; NULL after the last */
};

enum line_kind {
	LINE_TAKE,  /* `take` is called with the argument */
	LINE_FLAG,  /* sets a bool at `offset` */
	LINE_TEXT,  /* sets a const char * at `offset`; "" is refused */
	LINE_CHOICE, /* sets an int at `offset` to the place of the argument in `values` */
	LINE_WHOLE, /* sets an int64_t at `offset` to a whole number >= 0 */
};

struct line_option {
	const char *name;
	char letter;          /* 0: none */
	const char *argument; /* name of the argument; NULL: the option takes none */
	const char *values;   /* "auto|always|never"; NULL: any value */
	const char *(*names)(size_t i); /* returns value i for completion; NULL after the last */
	const char *help;
	enum line_kind kind;
	size_t offset; /* of the option's variable in `context` */
	/* For LINE_TAKE. Returns false if the argument is not valid. */
	bool (*take)(void *context, const char *argument);
	bool many; /* all words up to the next option are arguments */
	unsigned verbs;
};

struct line_gone {
	const char *word, *instead;
};

struct line_program {
	const char *name;
	const char *summary; /* text after "NAME - " */
	const struct line_verb *verbs;
	int verb_count;
	const struct line_option *options;
	size_t option_count;
	const struct line_gone *gone; /* words of earlier versions; the last row has no word */
	const char *exits; /* "0 done, 2 bad usage" */
	/* Parts of the man page; NULL: left out. */
	const char *about;
	const char *examples; /* commands, one a line */
	const char *see_also;
};

struct line {
	int verb;
	bool help, version; /* if true, nothing else is checked */
	char **words;       /* the words after the verb, in argv */
	int word_count;
	char problem[300];
};

/*
 * Parses a command line into the struct `context`. --help, -h and --version need no row. Options
 * may precede the verb. argv may be reordered. Returns 0, or -EINVAL with `problem` set.
 */
int line_parse(const struct line_program *program, void *context, int argc, char **argv,
	       struct line *ret);

/* Checks the number of words. Returns 0, or -EINVAL with `problem` set. */
int line_check_words(const struct line_program *program, struct line *line);

/* Returns what replaces a word of an earlier version (`program->gone`), or NULL. */
const char *line_instead(const struct line_program *program, const char *word, size_t length);

/* Writes "; did you mean gate?" or, if no verb is near, "" into NEAR_WORDS bytes. */
const char *line_near_verb(const struct line_program *program, const char *word, char *text);

/* Sets line->problem. Returns -EINVAL. */
__attribute__((format(printf, 2, 3))) int line_problem(struct line *line, const char *format, ...);

/* Prints the help of a verb; for verb -1, that of the program. */
void line_help(const struct line_program *program, int verb, FILE *out);
