/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.h - command lines from a table: the same rows parse them, are their help, their man page
 * and their completions.
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
	const char *name;      /* "": what the program does without a verb */
	const char *arguments; /* "RUN.db", for the usage line */
	const char *help;
	int fewest, most;  /* words after the verb; most -1: any number */
	bool passes_on;    /* options after the first word are not ours: `run -- CMD...` */
	const char *about; /* paragraphs, an empty line between them; NULL: `help` says it all */
	const char *(*names)(size_t i); /* for completions: what its words can be, up to NULL */
};

enum line_kind {
	LINE_TAKE,  /* `take` is called */
	LINE_FLAG,  /* a bool at `offset` becomes true */
	LINE_TEXT,  /* a const char * at `offset` becomes the argument, which may not be empty */
	LINE_WHOLE, /* an int64_t at `offset` becomes a whole number from 0 */
};

struct line_option {
	const char *name;
	char letter;          /* 0: none */
	const char *argument; /* NULL: takes none */
	const char *values;   /* "auto|always|never": all that it can be; NULL: anything */
	const char *(*names)(size_t i); /* for completions: what it can be, up to NULL */
	const char *help;
	enum line_kind kind;
	size_t offset; /* in the context */
	/* Of LINE_TAKE. false: the argument makes no sense. */
	bool (*take)(void *context, const char *argument);
	bool many; /* the words that follow are arguments of it as well, up to the next option */
	unsigned verbs; /* LINE_ON() of those that it goes with */
};

/* What the program once had, an option with its dashes, and what serves instead. */
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
	const struct line_gone *gone; /* up to one without a word; NULL: nothing is gone */
	const char *exits; /* "0 done, 2 bad usage" */
	/* For the man page; NULL: nothing. */
	const char *about;    /* paragraphs */
	const char *examples; /* commands, one a line */
	const char *see_also;
};

struct line {
	int verb;
	bool help, version; /* asked for; the rest was not checked then */
	char **words;       /* after the verb, in argv */
	int word_count;
	char problem[300]; /* what is wrong */
};

/*
 * --help, -h and --version need no row. Options may stand before the verb, as git's do. argv may be
 * reordered. 0, or -EINVAL with `problem` set: an option is unknown, or does not go with the verb.
 */
int line_parse(const struct line_program *program, void *context, int argc, char **argv,
	       struct line *ret);

/* Are there as many words as the verb takes? 0, or -EINVAL with `problem` set. */
int line_check_words(const struct line_program *program, struct line *line);

/* What serves instead of a verb or option, of `length` bytes, that is gone; NULL: it never was. */
const char *line_instead(const struct line_program *program, const char *word, size_t length);

/* "; did you mean gate?", or "": of a word that is no verb. Returns `text`, of NEAR_WORDS bytes. */
const char *line_near_verb(const struct line_program *program, const char *word, char *text);

/* Sets `problem`; returns -EINVAL. */
__attribute__((format(printf, 2, 3))) int line_problem(struct line *line, const char *format, ...);

/* Of one verb; verb -1: of the program. */
void line_help(const struct line_program *program, int verb, FILE *out);
