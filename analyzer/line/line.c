/* SPDX-License-Identifier: Apache-2.0 */
#include "line/line.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "line/near.h"

/* For row i of the table of options, getopt_long() returns FIRST_ID + i. */
enum { ID_HELP = 256, ID_VERSION, FIRST_ID };

struct parser {
	const struct line_program *program;
	void *context;
	struct line *ret;
	struct option long_options[LINE_MOST_OPTIONS + 3];
	char letters[2 * LINE_MOST_OPTIONS + 4];
	bool given[LINE_MOST_OPTIONS]; /* by row of the table: the option was given */
};

int line_problem(struct line *line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(line->problem, sizeof(line->problem), format, args);
	va_end(args);
	return -EINVAL;
}

static void make_getopt(struct parser *parser, bool passes_on)
{
	const struct line_program *program = parser->program;
	struct option *next = parser->long_options;
	char *letters = parser->letters;

	if (passes_on)
		*letters++ = '+';
	/* With a leading colon, getopt tells a missing argument from an unknown option. */
	*letters++ = ':';
	*letters++ = 'h';
	*next++ = (struct option){"help", no_argument, NULL, ID_HELP};
	*next++ = (struct option){"version", no_argument, NULL, ID_VERSION};
	for (size_t i = 0; i < program->option_count; i++) {
		const struct line_option *row = &program->options[i];

		*next++ = (struct option){
			.name = row->name,
			.has_arg = row->argument ? required_argument : no_argument,
			.val = FIRST_ID + (int)i,
		};
		if (row->letter) {
			*letters++ = row->letter;
			if (row->argument)
				*letters++ = ':';
		}
	}
	*next = (struct option){0};
	*letters = '\0';
}

static const struct line_option *find_option(const struct line_program *program, int id)
{
	if (id >= FIRST_ID)
		return &program->options[id - FIRST_ID];
	for (size_t i = 0; i < program->option_count; i++)
		if (program->options[i].letter == id)
			return &program->options[i];
	return NULL;
}

/* Returns the place of a word in a list like "auto|always|never"; -1: it is not in the list. */
static int find_value(const char *values, const char *word)
{
	size_t length = strlen(word);

	for (int place = 0;; place++) {
		size_t one = strcspn(values, "|");

		if (length && one == length && strncmp(values, word, one) == 0)
			return place;
		if (!values[one])
			return -1;
		values += one + 1;
	}
}

static bool take(const struct line_option *row, void *context, const char *argument)
{
	const int value = row->values ? find_value(row->values, argument) : 0;
	void *place = (char *)context + row->offset;
	char *end;

	if (value < 0)
		return false;
	switch (row->kind) {
	case LINE_TAKE:
		return row->take(context, argument);
	case LINE_FLAG:
		*(bool *)place = true;
		return true;
	case LINE_TEXT:
		*(const char **)place = argument;
		return *argument != '\0';
	case LINE_CHOICE:
		*(int *)place = value;
		return true;
	case LINE_WHOLE:
		if (*argument < '0' || *argument > '9')
			return false;
		errno = 0;
		*(int64_t *)place = strtoll(argument, &end, 10);
		return !errno && !*end;
	}
	return false;
}

/* Sets the problem: getopt_long() does not know this option. */
static int refuse_option(struct parser *parser, const char *given)
{
	const struct line_program *program = parser->program;
	int length = (int)strcspn(given, "=");
	struct near near = {given + 2, (size_t)(length > 2 ? length - 2 : 0)};
	char words[NEAR_WORDS];

	if (optopt >= ID_HELP)
		return line_problem(parser->ret, "%.*s takes no argument", length, given);
	if (optopt)
		return line_problem(parser->ret, "unknown option -%c", optopt);
	for (size_t i = 0; i < program->option_count; i++)
		near_try(&near, program->options[i].name);
	return line_problem(parser->ret, "unknown option %.*s%s", length, given,
			    near_words(&near, "--", words));
}

static int take_option(struct parser *parser, int id, const char *given)
{
	const struct line_option *row;

	if (id == ':')
		return line_problem(parser->ret, "%s needs an argument", given);
	row = id == '?' ? NULL : find_option(parser->program, id);
	if (!row)
		return refuse_option(parser, given);
	if (!take(row, parser->context, optarg))
		return line_problem(parser->ret, "--%s: '%s' is not %s", row->name, optarg,
				    row->kind == LINE_WHOLE ? "a whole number"
				    : row->values	    ? row->values
							    : row->argument);
	parser->given[row - parser->program->options] = true;
	return 0;
}

/* Parses options, up to argv[optind]. If `passes_on`, stops at the first word of another kind. */
static int parse_options(struct parser *parser, int argc, char **argv, bool passes_on)
{
	const struct line_option *row;
	int id, r;

	make_getopt(parser, passes_on);
	opterr = 0;
	optind = 0; /* so that getopt_long() starts again */
	while ((id = getopt_long(argc, argv, parser->letters, parser->long_options, NULL)) != -1) {
		if (id == ID_HELP || id == 'h') {
			parser->ret->help = true;
		} else if (id == ID_VERSION) {
			parser->ret->version = true;
		} else {
			r = take_option(parser, id, argv[optind - 1]);
			row = find_option(parser->program, id);
			while (r == 0 && row->many && optind < argc && argv[optind][0] != '-') {
				optarg = argv[optind++];
				r = take_option(parser, id, optarg);
			}
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* Returns the number of a verb, or -1 if the word is no verb. */
static int find_verb(const struct line_program *program, const char *word)
{
	for (int i = 0; i < program->verb_count; i++)
		if (*program->verbs[i].name && strcmp(program->verbs[i].name, word) == 0)
			return i;
	return -1;
}

const char *line_near_verb(const struct line_program *program, const char *word, char *text)
{
	struct near near = {word, strlen(word)};

	for (int i = 0; i < program->verb_count; i++)
		near_try(&near, program->verbs[i].name);
	return near_words(&near, "", text);
}

static const char *spaced(const char *name)
{
	return *name ? " " : "";
}

/* Checks that the verb takes each option that was given. */
static int check_options(struct parser *parser)
{
	const struct line_program *program = parser->program;
	const struct line_verb *verb = &program->verbs[parser->ret->verb];
	const struct line_option *row = program->options, *end = row + program->option_count;
	char others[160] = "";

	while (row < end &&
	       (!parser->given[row - program->options] || row->verbs & LINE_ON(parser->ret->verb)))
		row++;
	if (row == end)
		return 0;
	for (int i = 0; i < program->verb_count; i++)
		if (row->verbs & LINE_ON(i))
			snprintf(others + strlen(others), sizeof(others) - strlen(others),
				 "%s%s%s%s", *others ? ", " : "", program->name,
				 spaced(program->verbs[i].name), program->verbs[i].name);
	return line_problem(parser->ret, "--%s does not go with %s%s%s; it goes with: %s",
			    row->name, program->name, spaced(verb->name), verb->name, others);
}

int line_check_words(const struct line_program *program, struct line *line)
{
	const struct line_verb *verb = &program->verbs[line->verb];

	if (line->word_count < verb->fewest)
		return line_problem(line, "something is missing: %s%s%s %s", program->name,
				    spaced(verb->name), verb->name, verb->arguments);
	if (verb->most >= 0 && line->word_count > verb->most)
		return line_problem(line, "'%s' is one too many: %s%s%s %s",
				    line->words[verb->most], program->name, spaced(verb->name),
				    verb->name, verb->arguments);
	return 0;
}

int line_parse(const struct line_program *program, void *context, int argc, char **argv,
	       struct line *ret)
{
	struct parser parser = {.program = program, .context = context, .ret = ret};
	int at, verb, r;
	bool ended;

	*ret = (struct line){.verb = 0};
	/* Parses options before the first word: later ones may be another command's. */
	r = parse_options(&parser, argc, argv, true);
	if (r < 0)
		return r;
	at = optind;
	ended = at > 1 && strcmp(argv[at - 1], "--") == 0;
	verb = at < argc ? find_verb(program, argv[at]) : -1;
	if (verb >= 0) {
		ret->verb = verb;
		at++;
	}
	if (verb >= 0 || !ended) {
		/* getopt takes the word before the first one for the program's name. */
		r = parse_options(&parser, argc - at + 1, argv + at - 1,
				  program->verbs[ret->verb].passes_on);
		at += optind - 1;
	}
	if (r < 0)
		return r;
	ret->words = argv + at;
	ret->word_count = argc - at;
	/* If the first word is no verb, the caller says so. Options are not checked then. */
	if (verb < 0 && ret->word_count && !program->verbs[0].most)
		return 0;
	return ret->help || ret->version ? 0 : check_options(&parser);
}

static void help_verbs(const struct line_program *program, FILE *out)
{
	fprintf(out, "usage: %s [VERB] [OPTIONS] %s\n\n", program->name,
		program->verbs[0].arguments);
	for (int i = 0; i < program->verb_count; i++) {
		const struct line_verb *verb = &program->verbs[i];

		fprintf(out, "  %-21s %s\n", *verb->name ? verb->name : "(no verb)", verb->help);
	}
	fputc('\n', out);
}

/* Prints a text, indented by two, in lines of at most 78 columns. */
static void help_text(const char *text, FILE *out)
{
	int column = 0;

	while (*text) {
		int length = (int)strcspn(text, " \n");

		if (column + 1 + length > 78) {
			fputc('\n', out);
			column = 0;
		}
		column += fprintf(out, "%s%.*s", column ? " " : "  ", length, text);
		text += length;
		while (*text == ' ')
			text++;
		for (; *text == '\n'; text++, column = 0)
			fputc('\n', out);
	}
	fputs("\n\n", out);
}

static void help_verb(const struct line_program *program, const struct line_verb *verb, FILE *out)
{
	fprintf(out, "usage: %s%s%s [OPTIONS] %s\n\n", program->name, spaced(verb->name),
		verb->name, verb->arguments);
	help_text(verb->help, out);
	if (verb->about)
		help_text(verb->about, out);
}

static void help_option(const struct line_option *row, FILE *out)
{
	char left[64];

	snprintf(left, sizeof(left), "%c%c%c --%s %s", row->letter ? '-' : ' ',
		 row->letter ? row->letter : ' ', row->letter ? ',' : ' ', row->name,
		 row->argument ? row->argument : "");
	fprintf(out, "  %-21s %s\n", left, row->help);
}

void line_help(const struct line_program *program, int verb, FILE *out)
{
	const unsigned all = (1u << program->verb_count) - 1;

	if (verb < 0)
		help_verbs(program, out);
	else
		help_verb(program, &program->verbs[verb], out);
	/* Without a verb, print the options that need none and those that every verb has. */
	for (size_t i = 0; i < program->option_count; i++) {
		const struct line_option *row = &program->options[i];

		if (verb >= 0 ? row->verbs & LINE_ON(verb)
			      : row->verbs & LINE_ON(0) || (row->verbs & all) == all)
			help_option(row, out);
	}
	fprintf(out, "  %-21s %s\n", "-h, --help", LINE_HELP_HELP);
	fprintf(out, "  %-21s %s\n", "    --version", LINE_HELP_VERSION);
	fprintf(out, "\nexit status: %s\n", program->exits);
}
