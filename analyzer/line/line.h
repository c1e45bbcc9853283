/* SPDX-License-Identifier: Apache-2.0 */
/* line.h - command lines as tables: these serve parsing, help, manual pages and completions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define LINE_ON(verb)     (1u << (verb))
#define LINE_MOST_OPTIONS 64

#define LINE_HELP_HELP    "this; after a verb, its options"
#define LINE_HELP_VERSION "the version"

struct line_verb {
	const char *name;      /* "": the program is called without a verb */
	const char *arguments; /* as in the usage line: "RUN.db" */
	const char *help;
	int fewest, most;  /* number of words that may follow the verb; most -1: no limit */
	bool passes_on;    /* options after the first word are another command's: `run CMD...` */
	const char *about; /* paragraphs with empty lines between; NULL: `help` is enough */
	const char *(*names)(size_t i); /* for completion, returns word i; NULL after the last */
};

enum line_kind {
	LINE_TAKE,  /* calls `take` with the argument */
	LINE_FLAG,  /* sets a bool at `offset` */
	LINE_TEXT,  /* sets a const char * at `offset`; "" is refused */
	LINE_CHOICE, /* sets an int at `offset`: the argument's place in `values` */
	LINE_WHOLE, /* sets an int64_t at `offset` to a whole number >= 0 */
};

struct line_option {
	const char *name;
	char letter;          /* 0: the option has none */
	const char *argument; /* NULL: the option takes no argument */
	const char *values;   /* "auto|always|never"; NULL: any value */
	const char *(*names)(size_t i); /* for completion, returns value i; NULL after the last */
	const char *help;
	enum line_kind kind;
	size_t offset; /* of the option's variable in `context` */
	/* For LINE_TAKE. Returns false if it refuses the argument. */
	bool (*take)(void *context, const char *argument);
	bool many; /* all words until the next option are arguments */
	unsigned verbs;
};

struct line_program {
	const char *name;
	const char *summary; /* what follows "NAME - " */
	const struct line_verb *verbs;
	int verb_count;
	const struct line_option *options;
	size_t option_count;
	const char *exits; /* "0 done, 2 bad usage" */
	/* Parts of the man page; NULL: the part is left out. */
	const char *about;
	const char *examples; /* commands, one in each line */
	const char *see_also;
};

struct line {
	int verb;
	bool help, version; /* if one is true, the rest is not checked */
	char **words;       /* words after the verb, in argv */
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

/* Writes "; did you mean gate?" into NEAR_WORDS bytes, or "" if no verb is near. */
const char *line_near_verb(const struct line_program *program, const char *word, char *text);

/* Sets line->problem. Returns -EINVAL. */
__attribute__((format(printf, 2, 3))) int line_problem(struct line *line, const char *format, ...);

/* Prints the help of a verb; verb -1: the program's help. */
void line_help(const struct line_program *program, int verb, FILE *out);
