/* SPDX-License-Identifier: Apache-2.0 */
#include "report/options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ON(verb) (1u << (verb))
#define ALL      (ON(VERB_MAX) - 1)
#define SHOWN    (ON(VERB_REPORT) | ON(VERB_BATCHES))

static const struct verb_row {
	const char *name;
	const char *help;
} VERBS[VERB_MAX] = {
	[VERB_REPORT] = {"", "is the run starved for data, and where does the time go?"},
	[VERB_BATCHES] = {"batches", "every batch as a row"},
	[VERB_IMPORT] = {"import", "make a run (-o RUN.db) of a CSV of batches"},
};

/* Takes the argument (NULL where the option has none); false: it makes no sense. */
typedef bool take_fn(struct options *options, const char *argument);

static bool take_number(int64_t *ret, const char *text, const char *end)
{
	char *stop;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret = strtoll(text, &stop, 10);
	return !errno && stop == end;
}

static bool take_whole(int64_t *ret, const char *text)
{
	return take_number(ret, text, text + strlen(text));
}

static bool take_json(struct options *options, const char *argument)
{
	options->json = true;
	return true;
}

static bool take_csv(struct options *options, const char *argument)
{
	options->csv = true;
	return true;
}

static bool take_output(struct options *options, const char *argument)
{
	options->output = strcmp(argument, "-") == 0 ? NULL : argument;
	return *argument != '\0';
}

static bool take_force(struct options *options, const char *argument)
{
	options->force = true;
	return true;
}

static bool take_quiet(struct options *options, const char *argument)
{
	options->quiet = true;
	return true;
}

static bool take_color(struct options *options, const char *argument)
{
	static const char *const names[] = {
		[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"};
	int i;

	for (i = COLOR_AUTO; i <= COLOR_NEVER; i++) {
		if (strcmp(argument, names[i]) == 0) {
			options->color = (enum color_choice)i;
			return true;
		}
	}
	return false;
}

static bool take_ascii(struct options *options, const char *argument)
{
	options->ascii = true;
	return true;
}

static bool take_rank(struct options *options, const char *argument)
{
	return take_whole(&options->rank, argument);
}

static bool take_epoch(struct options *options, const char *argument)
{
	return take_whole(&options->epoch, argument);
}

static bool take_loader(struct options *options, const char *argument)
{
	return take_whole(&options->loader, argument);
}

/* "A:B", "A:", ":B" or "A". */
static bool take_batches(struct options *options, const char *argument)
{
	const char *colon = strchr(argument, ':');

	if (!colon) {
		if (!take_whole(&options->first, argument))
			return false;
		options->last = options->first;
		return true;
	}
	if (colon != argument && !take_number(&options->first, argument, colon))
		return false;
	if (colon[1] && !take_whole(&options->last, colon + 1))
		return false;
	return options->last < 0 || options->last >= options->first;
}

static bool take_meta(struct options *options, const char *argument)
{
	if (options->meta_count == OPTIONS_MOST_META || !strchr(argument, '='))
		return false;
	options->meta[options->meta_count++] = argument;
	return true;
}

static bool take_explain(struct options *options, const char *argument)
{
	options->explain = argument;
	return true;
}

static bool take_help(struct options *options, const char *argument)
{
	options->help = true;
	return true;
}

static bool take_version(struct options *options, const char *argument)
{
	options->version = true;
	return true;
}

static const struct option_row {
	const char *name;
	char letter; /* 0: none */
	const char *argument;
	const char *help;
	take_fn *take;
	unsigned verbs;
} OPTIONS[] = {
	{"json", 0, NULL, "JSON; times in seconds, shares 0-1, null: not observed", take_json, SHOWN},
	{"csv", 0, NULL, "CSV; an empty cell: not observed", take_csv, ON(VERB_BATCHES)},
	{"output", 'o', "FILE", "write there; -: standard output", take_output, ALL},
	{"force", 'f', NULL, "replace FILE if it exists", take_force, ALL},
	{"loader", 0, "N", "this loader instead of the one with most time", take_loader,
	 SHOWN},
	{"epoch", 0, "N", "this epoch of it only, counted from 0", take_epoch, SHOWN},
	{"batches", 0, "A:B", "the batches at positions A to B only, counted from 0", take_batches,
	 SHOWN},
	{"rank", 0, "N", "the run must be of this rank", take_rank, SHOWN},
	{"color", 0, "WHEN", "auto, always or never", take_color, ALL},
	{"ascii", 0, NULL, "nothing but ASCII in text", take_ascii, ALL},
	{"quiet", 'q', NULL, "no remarks on standard error, only errors", take_quiet, ALL},
	{"meta", 0, "KEY=VALUE", "workers=4, in_order=true, cores=8, sync=false",
	 take_meta, ON(VERB_IMPORT)},
	{"explain", 0, "ID", "what a cause, advice or metric means; all: list them",
	 take_explain, ALL},
	{"help", 'h', NULL, "this", take_help, ALL},
	{"version", 0, NULL, "the version", take_version, ALL},
};
#define OPTION_COUNT (sizeof(OPTIONS) / sizeof(OPTIONS[0]))
#define FIRST_ID     256 /* what getopt returns for row 0 */

__attribute__((format(printf, 2, 3))) static int problem(struct options *options,
							 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(options->problem, sizeof(options->problem), format, args);
	va_end(args);
	return -EINVAL;
}

static void make_getopt(struct option *ret_long, char *letters)
{
	size_t i;

	/* getopt: a colon first tells "no argument" from "no such option". */
	*letters++ = ':';
	for (i = 0; i < OPTION_COUNT; i++) {
		ret_long[i] = (struct option){
			.name = OPTIONS[i].name,
			.has_arg = OPTIONS[i].argument ? required_argument : no_argument,
			.val = FIRST_ID + (int)i,
		};
		if (OPTIONS[i].letter) {
			*letters++ = OPTIONS[i].letter;
			if (OPTIONS[i].argument)
				*letters++ = ':';
		}
	}
	ret_long[OPTION_COUNT] = (struct option){0};
	*letters = '\0';
}

static const struct option_row *find_option(int id)
{
	size_t i;

	if (id >= FIRST_ID)
		return &OPTIONS[id - FIRST_ID];
	for (i = 0; i < OPTION_COUNT; i++)
		if (OPTIONS[i].letter == id)
			return &OPTIONS[i];
	return NULL;
}

static int parse_options(struct options *ret, int argc, char **argv, unsigned *ret_verbs)
{
	struct option long_options[OPTION_COUNT + 1];
	char letters[2 * OPTION_COUNT + 2];
	const struct option_row *row;
	int id;

	make_getopt(long_options, letters);
	*ret_verbs = ALL;
	opterr = 0;
	optind = 0; /* from the start, also the second time */
	while ((id = getopt_long(argc, argv, letters, long_options, NULL)) != -1) {
		if (id == ':')
			return problem(ret, "%s needs an argument", argv[optind - 1]);
		row = id == '?' ? NULL : find_option(id);
		if (!row && optopt && optopt < FIRST_ID)
			return problem(ret, "unknown option -%c", optopt);
		if (!row)
			return problem(ret, "unknown option %s, or one that takes no argument",
				       argv[optind - 1]);
		if (!row->take(ret, optarg))
			return problem(ret, "--%s: '%s' is not %s", row->name, optarg,
				       row->argument);
		if (row->verbs != ALL && (*ret_verbs & row->verbs) != *ret_verbs) {
			*ret_verbs &= row->verbs;
			snprintf(ret->problem, sizeof(ret->problem), "--%s", row->name);
		}
	}
	return 0;
}

static bool is_file(const char *path)
{
	return access(path, F_OK) == 0;
}

/* A word that could be a verb: no folder, no suffix. */
static bool is_word(const char *text)
{
	return !strpbrk(text, "./");
}

static int parse_verb(struct options *ret, int count, char **words)
{
	int verb;

	for (verb = VERB_REPORT + 1; count && verb < VERB_MAX; verb++) {
		if (strcmp(words[0], VERBS[verb].name) == 0) {
			ret->verb = (enum verb)verb;
			words++;
			count--;
			break;
		}
	}
	if (!count)
		return problem(ret, "which run? dlprof-report %s%s%s", VERBS[ret->verb].name,
			       ret->verb == VERB_REPORT ? "" : " ",
			       ret->verb == VERB_IMPORT ? "SERIES.csv -o RUN.db" : "RUN.db");
	if (strcmp(words[0], "-") == 0 && ret->verb != VERB_IMPORT)
		return problem(ret, "a run cannot be read from standard input");
	if (ret->verb == VERB_REPORT && is_word(words[0]) && !is_file(words[0]))
		return problem(ret, "'%s' is neither a verb nor a file (see --help)", words[0]);
	if (count > 1)
		return problem(ret, "one run at a time: '%s' is one too many", words[1]);
	ret->run = words[0];
	return 0;
}

int options_parse(struct options *ret, int argc, char **argv)
{
	char option[sizeof(ret->problem)];
	unsigned verbs;
	int r;

	*ret = (struct options){.rank = -1, .epoch = -1, .loader = -1, .first = -1, .last = -1};
	r = parse_options(ret, argc, argv, &verbs);
	if (r < 0 || ret->help || ret->version || ret->explain)
		return r;
	memcpy(option, ret->problem, sizeof(option));
	ret->problem[0] = '\0';
	r = parse_verb(ret, argc - optind, argv + optind);
	if (r < 0)
		return r;
	if (!(verbs & ON(ret->verb)))
		return problem(ret, "%s does not go with %s%s", option,
			       ret->verb == VERB_REPORT ? "the report" : VERBS[ret->verb].name,
			       ret->verb == VERB_REPORT && verbs & ON(VERB_BATCHES)
				       ? "; it goes with: dlprof-report batches"
				       : "");
	if (ret->json && ret->csv)
		return problem(ret, "--json or --csv, not both");
	return 0;
}

void options_help(FILE *out)
{
	char left[64];
	size_t i;

	fputs("usage: dlprof-report [VERB] [OPTIONS] RUN.db\n\n", out);
	for (i = 0; i < VERB_MAX; i++)
		fprintf(out, "  %-20s %s\n", *VERBS[i].name ? VERBS[i].name : "(no verb)",
			VERBS[i].help);
	fputc('\n', out);
	for (i = 0; i < OPTION_COUNT; i++) {
		const struct option_row *row = &OPTIONS[i];

		if (row->letter)
			snprintf(left, sizeof(left), "-%c, --%s %s", row->letter, row->name,
				 row->argument ? row->argument : "");
		else
			snprintf(left, sizeof(left), "    --%s %s", row->name,
				 row->argument ? row->argument : "");
		fprintf(out, "  %-20s %s%s\n", left, row->help,
			row->verbs == ON(VERB_BATCHES)	? " (batches)"
			: row->verbs == ON(VERB_IMPORT) ? " (import)"
							: "");
	}
	fputs("\nexit status: 0 done, 2 bad usage or unreadable run, 3 the run holds no batches\n",
	      out);
}
