/* SPDX-License-Identifier: Apache-2.0 */
#include "line/complete.h"

#include <string.h>

#define QUESTION "__complete"

/* What stands before the word in question. */
struct before {
	int verb;
	int words;   /* that are no options, after the verb */
	int command; /* the first of them, where another's command line begins */
	const struct line_option *wants; /* the option whose argument is next; NULL: none */
	bool ended;                      /* by "--" */
};

/* "--output" or "-o"; NULL: no row, or its argument stands in the same word. */
static const struct line_option *find_row(const struct line_program *program, const char *word)
{
	for (size_t i = 0; i < program->option_count; i++) {
		const struct line_option *row = &program->options[i];

		if (word[1] == '-' ? strcmp(row->name, word + 2) == 0
				   : row->letter && row->letter == word[1] && !word[2])
			return row;
	}
	return NULL;
}

static void take_word(const struct line_program *program, const char *word, int at,
		      struct before *before)
{
	const struct line_option *row = before->wants;

	before->wants = NULL;
	if (strcmp(word, "--") == 0 && !before->ended) {
		before->ended = true;
	} else if (*word == '-' && !before->ended && (!row || row->many)) {
		row = find_row(program, word);
		before->wants = row && row->argument ? row : NULL;
	} else if (row) {
		before->wants = row->many ? row : NULL;
	} else if (!before->verb && !before->words && line_find_verb(program, word) > 0) {
		before->verb = line_find_verb(program, word);
	} else if (!before->words++) {
		before->command = at;
	}
}

static void put_names(FILE *out, const char *(*names)(size_t i))
{
	const char *name;

	for (size_t i = 0; (name = names(i)); i++)
		fprintf(out, "%s\n", name);
}

static void put_argument(FILE *out, const struct line_option *row)
{
	for (const char *at = row->values; at && *at; at += strspn(at, "|")) {
		int length = (int)strcspn(at, "|");

		fprintf(out, "%.*s\n", length, at);
		at += length;
	}
	if (row->names)
		put_names(out, row->names);
	if (row->suffix || strcmp(row->argument, "FILE") == 0)
		fprintf(out, ":files %s\n", row->suffix ? row->suffix : "");
	if (strcmp(row->argument, "DIR") == 0)
		fputs(":folders\n", out);
}

static void put_options(FILE *out, const struct line_program *program, int verb)
{
	for (size_t i = 0; i < program->option_count; i++) {
		const struct line_option *row = &program->options[i];

		if (!(row->verbs & LINE_ON(verb)))
			continue;
		fprintf(out, "--%s\t%s\n", row->name, row->help);
		if (row->letter)
			fprintf(out, "-%c\t%s\n", row->letter, row->help);
	}
	fputs("--help\t" LINE_HELP_HELP "\n-h\t" LINE_HELP_HELP "\n--version\t" LINE_HELP_VERSION
	      "\n",
	      out);
}

/* A verb, and what the program or the verb takes. */
static void put_words(FILE *out, const struct line_program *program, const struct before *before)
{
	const struct line_verb *verb = &program->verbs[before->verb];

	for (int i = 0; !before->verb && !before->words && i < program->verb_count; i++)
		if (*program->verbs[i].name)
			fprintf(out, "%s\t%s\n", program->verbs[i].name, program->verbs[i].help);
	if (verb->names)
		put_names(out, verb->names);
	else if (verb->most)
		fprintf(out, ":files %s\n", verb->suffix ? verb->suffix : "");
}

bool complete(const struct line_program *program, int argc, char **argv, FILE *out)
{
	struct before before = {0};
	const int last = argc - 1;

	if (argc < 3 || strcmp(argv[1], QUESTION) != 0)
		return false;
	for (int i = 2; i < last && !before.command; i++) {
		take_word(program, argv[i], i - 1, &before);
		if (!before.verb || !program->verbs[before.verb].passes_on)
			before.command = 0;
	}
	if (before.wants && (!before.wants->many || argv[last][0] != '-'))
		put_argument(out, before.wants);
	else if (before.command)
		fprintf(out, ":command %d\n", before.command);
	else if (argv[last][0] == '-' && !before.ended)
		put_options(out, program, before.verb);
	else if (before.verb && program->verbs[before.verb].passes_on)
		fprintf(out, ":command %d\n", last - 1);
	else
		put_words(out, program, &before);
	return true;
}
