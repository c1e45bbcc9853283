/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.h - command lines as tables. The same rows parse a command line, and make the help, the man
 * page and the completions.
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
	const char *name;      /* "": the program without a verb */
	const char *arguments; /* for the usage line: "RUN.db" */
	const char *help;
	int fewest, most;  /* limits on the number of words after the verb; most -1: any number */
	bool passes_on;    /* options after the first word are another command's: `run -- CMD...` */
	const char *about; /* paragraphs, separated by an empty line; NULL: `help` is enough */
	const char *(*names)(size_t i); /* returns word i for completion; NULL after the last */
};

enum line_kind {
	LINE_TAKE,  /* `take` is called with the argument */
	LINE_FLAG,  /* a bool at `offset` becomes true */
	LINE_TEXT,  /* a const char * at `offset` becomes the argument, which may not be empty */
	LINE_CHOICE, /* an int at `offset` becomes the argument's place in `values` */
	LINE_WHOLE, /* an int64_t at `offset` becomes a whole number >= 0 */
};

struct line_option {
	const char *name;
	char letter;          /* a one-letter name; 0: none */
	const char *argument; /* name of the argument; NULL: the option takes none */
	const char *values;   /* all values, as "auto|always|never"; NULL: any value */
	const char *(*names)(size_t i); /* returns value i for completion; NULL after the last */
	const char *help;
	enum line_kind kind;
	size_t offset; /* offset of the value in `context` */
	/* Handles the argument, for LINE_TAKE. Returns false if it is not valid. */
	bool (*take)(void *context, const char *argument);
	bool many; /* all words up to the next option are arguments, too */
	unsigned verbs; /* LINE_ON() for each verb that takes the option */
};

/* A verb, or an option with its dashes, that no longer exists, and what replaces it. */
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
	const struct line_gone *gone; /* a row without a word ends them; NULL: there are none */
	const char *exits; /* exit statuses: "0 done, 2 bad usage" */
	/* Parts of the man page; NULL: left out. */
	const char *about;    /* paragraphs */
	const char *examples; /* commands, one a line */
	const char *see_also;
};

struct line {
	int verb;
	bool help, version; /* --help or --version was given; nothing else is checked */
	char **words;       /* words after the verb, as pointers into argv */
	int word_count;
	char problem[300]; /* what is wrong with the command line */
};

/*
 * Parses a command line. --help, -h and --version need no row in the table. Options may precede the
 * verb, as with git. May reorder argv. Returns 0, or -EINVAL with `problem` set if an option is
 * unknown or the verb does not take it.
 */
int line_parse(const struct line_program *program, void *context, int argc, char **argv,
	       struct line *ret);

/* Checks the number of words after the verb. Returns 0, or -EINVAL with `problem` set. */
int line_check_words(const struct line_program *program, struct line *line);

/* Returns what replaces a verb or option that no longer exists, or NULL if it never existed. */
const char *line_instead(const struct line_program *program, const char *word, size_t length);

/* Writes "; did you mean gate?" to `text` (NEAR_WORDS bytes) for a word that is no verb, or "". */
const char *line_near_verb(const struct line_program *program, const char *word, char *text);

/* Sets line->problem, and returns -EINVAL. */
__attribute__((format(printf, 2, 3))) int line_problem(struct line *line, const char *format, ...);

/* Prints the help for a verb, or for the program with verb -1. */
void line_help(const struct line_program *program, int verb, FILE *out);
