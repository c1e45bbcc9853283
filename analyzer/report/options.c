/* SPDX-License-Identifier: Apache-2.0 */
#include "report/options.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/predict/whatif.h"
#include "dlprof/set.h"
#include "line/near.h"
#include "render/run/explain.h"
#include "report/queries.h"

/* limits of the argument of --what-if */
#define MOST_WORKERS  1024
#define MOST_PREFETCH 1024
#define MOST_LOAD     100.0
#define MOST_KEYS     200 /* room for the names of all keys, in bytes */

#define MOST_FILE_BYTES (1 << 16)
#define MOST_ARGUMENTS  1024 /* most arguments, with those from files */

enum kind { WHOLE, FLAG, FACTOR };

static const struct key {
	const char *name, *takes;
	size_t offset; /* offset in struct whatif_wish of an int32_t (FACTOR: of a double) */
	enum kind kind;
	int32_t least, most; /* limits of the value, but not for kind FACTOR */
} KEYS[] = {
#define AT(member) offsetof(struct whatif_wish, member)
	{"workers", "N", AT(workers), WHOLE, 0, MOST_WORKERS},
	{"prefetch_factor", "N", AT(prefetch_factor), WHOLE, 1, MOST_PREFETCH},
	{"in_order", "true|false", AT(in_order), FLAG, 0, 1},
	{"persistent", "true|false", AT(persistent), FLAG, 0, 1},
	{"load", "FACTOR", AT(load_factor), FACTOR},
#undef AT
};

static void list_keys(char text[MOST_KEYS])
{
	*text = '\0';
	for (size_t i = 0; i < ARRAY_COUNT(KEYS); i++)
		snprintf(text + strlen(text), MOST_KEYS - strlen(text), "%s%s=%s", i ? ", " : "",
			 KEYS[i].name, KEYS[i].takes);
}

static bool take_number(int64_t *ret, const char *text, const char *end)
{
	char *stop;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret = strtoll(text, &stop, 10);
	return !errno && stop == end;
}

static bool take_factor(const char *value, size_t length, double *ret)
{
	char *stop;

	if ((*value < '0' || *value > '9') && *value != '.')
		return false;
	*ret = strtod(value, &stop);
	return stop == value + length && *ret >= 0 && *ret <= MOST_LOAD;
}

static bool take_value(const struct key *key, const char *value, size_t length,
		       struct whatif_wish *ret)
{
	void *place = (char *)ret + key->offset;
	int32_t *number = place;

	if (key->kind == FACTOR)
		return take_factor(value, length, place);
	*number = key->kind == FLAG ? dlprof_set_word("false|true", value, length)
				    : dlprof_set_number(value, length);
	return *number >= key->least && *number <= key->most;
}

/* Reads one KEY=VALUE, of `length` characters, into *ret. */
static bool take(const char *text, size_t length, struct whatif_wish *ret, char *problem,
		 size_t size)
{
	const char *equals = memchr(text, '=', length);
	size_t name_length = equals ? (size_t)(equals - text) : length;
	struct near near = {text, name_length};
	char words[NEAR_WORDS], keys[MOST_KEYS];
	size_t i;

	for (i = 0; i < ARRAY_COUNT(KEYS); i++) {
		if (dlprof_set_is(text, name_length, KEYS[i].name))
			break;
		near_try(&near, KEYS[i].name);
	}
	if (i < ARRAY_COUNT(KEYS) && equals &&
	    take_value(&KEYS[i], equals + 1, length - name_length - 1, ret))
		return true;
	if (i < ARRAY_COUNT(KEYS)) {
		snprintf(problem, size, "'%.*s' is not %s=%s", (int)length, text, KEYS[i].name,
			 KEYS[i].takes);
		return false;
	}
	list_keys(keys);
	near_words(&near, "", words);
	snprintf(problem, size, "'%.*s' is not one of its settings%s%s %s", (int)name_length, text,
		 words, *words ? " They are" : ", which are", keys);
	return false;
}

/*
 * Parses a list like "workers=16,prefetch_factor=4,in_order=false,load=0.5". If the text is wrong,
 * returns false and writes the reason to `problem`.
 */
static bool wish_parse(const char *text, struct whatif_wish *ret, char *problem, size_t size)
{
	const char *at = text;
	size_t length;

	*ret = (struct whatif_wish){text, -1, -1, -1, NAN};
	for (;; at += length + 1) {
		length = strcspn(at, ",");
		if (!take(at, length, ret, problem, size))
			return false;
		if (!at[length])
			return true;
	}
}

#define ON     LINE_ON
#define ALL    (ON(VERB_MAX) - 1)
#define REPORT ON(VERB_REPORT)
#define GATE   ON(VERB_GATE)
#define EXPORT ON(VERB_EXPORT)
#define SHOWN  (REPORT | ON(VERB_BATCHES) | ON(VERB_COMPARE))
#define PART   (SHOWN | ON(VERB_HTML) | ON(VERB_TRACE))

static const char *explain_id(size_t i)
{
	const struct explanation *explanation = i ? explain_at(i - 1) : NULL;

	return !i ? "all" : explanation ? explanation->id : NULL;
}

static const struct line_verb VERBS[VERB_MAX] = {
	[VERB_REPORT] = {"", "[RUN.db...]", "is the run, or the job of several, starved, and why?",
			 .fewest = 0, .most = -1},
	[VERB_BATCHES] = {"batches", "[RUN.db]", "every batch as a row", .fewest = 0, .most = 1},
	[VERB_COMPARE] = {"compare", "A.db B.db",
			  "what changed from run A to run B, and is it noise?", .fewest = 2,
			  .most = 2},
	[VERB_HTML] = {"html", "RUN.db... -o REPORT.html", "the report as one HTML file",
		       .fewest = 1, .most = -1,
		       .about = "For several runs or a folder (the ranks of a job) the page has "
				"a row and a picture of each; --rank N makes the page of one "
				"rank. Of several jobs it has a row and the verdict of each."},
	[VERB_IMPORT] = {"import", "SERIES.csv -o RUN.db",
			 "make a run (-o RUN.db) from a CSV of batches", .fewest = 1, .most = 1},
	[VERB_GATE] =
		{"gate", "RUN.db... [@FILE] [--baseline RUN|DIR...]",
		 "does a run keep to its limits, and to its baselines?", .fewest = 1, .most = -1,
		 .about = "A limit on the stall ratio fails if the ratio is above it with 99 % "
			  "confidence: by a bootstrap of the run's batches, in blocks, and of "
			  "its later epochs' starts. Against five or more baselines of the same "
			  "kind a run fails if its ratio is above their mean by more than 3 "
			  "points and by more than 4.1 of their standard deviations, or of its "
			  "own bootstrap error if that is larger. Of 63,000 simulated gates "
			  "where nothing had changed 109 failed; a rise of 10 points was caught "
			  "in 100 of 100 at 1,000 batches whose loads vary by a tenth, in 89 "
			  "where they vary by half. Of runs 2 points below their limit 142 in "
			  "19,800 failed it. --calibrate measures this on your own runs. A run "
			  "needs max(300, 20 x prefetch_factor x workers) batches, and the "
			  "sampler's seed fixed."},
	[VERB_TRACE] = {"trace", "RUN.db... -o TRACE.json", "a timeline for ui.perfetto.dev",
			.fewest = 1, .most = -1,
			.about = "It has lanes for the training, for each worker's loads and "
				 "for slow operations, and a counter of the finished batches "
				 "that wait. Browsers take about 200 MB, or 400,000 batches; "
				 "choose a part of a longer run. With several runs or a folder "
				 "(the ranks of a job) each run is a process of the trace; they "
				 "are aligned by their hosts' wall clocks. With several runs, "
				 "--worst applies to each run."},
	[VERB_EXPORT] =
		{"export", "RUN.db... -o FOLDER|--into FLEET.db",
		 "views as CSV, or jobs as rows of a database", .fewest = 1, .most = -1,
		 .about = "Writes one file per view of a run into FOLDER, or with --view only that "
			  "view, to a file or standard output. Times are seconds of the monotonic "
			  "clock; an empty cell was not observed.\n\n"
			  "With --into or --csv it writes rows about jobs instead, from runs, "
			  "folders of runs and partials of fold in any mixture; dlprof-report sql "
			  "lists the tables. A job (its id and attempt) that is there already is "
			  "replaced, each in one transaction, and exports into one database wait "
			  "for each other. A run without a job is a job by itself. What is damaged "
			  "is named and left out, a job's rank or, where it shows only while it "
			  "is read, the job; the rest is exported, and the exit status is 2. "
			  "--into makes or extends an SQLite database; --csv -o FOLDER writes "
			  "job.csv and a file for each other table, for databases to load, of "
			  "runs or of such an SQLite database. --redact numbers names anew at "
			  "each export, so give it all runs at once."},
	[VERB_TOP] =
		{"top", "[RUN.db]", "the report of a run that still records, again and again",
		 .fewest = 0, .most = 1,
		 .about = "Draws the report's screen every 2 seconds until q or until the run is "
			  "over, less often where that would take a tenth of a CPU; once, if "
			  "standard output is not a terminal. It opens the database only while it "
			  "reads, and never makes the recording wait."},
	[VERB_FOLD] =
		{"fold", "FOLDER|PART... [-o N.part]",
		 "sum up a large job's ranks, machine by machine", .fewest = 1, .most = -1,
		 .about = "With -o it writes a partial of some ranks' runs: a few hundred "
			  "kilobytes that hold every step of the job. Run it once per machine, "
			  "with srun or mpirun, where the runs are. Partials fold into larger "
			  "ones, and without -o into the job's report, the same as from all its "
			  "runs. A folder stands for the partials (*.part) in it."},
	[VERB_SQL] =
		{"sql", "[NAME [FLEET.db]]", "which jobs, nodes and owners lose most?", .fewest = 0,
		 .most = 2, .names = queries_name,
		 .about = "With a name and a database of many jobs, as export makes it, it prints "
			  "what the query finds there. With a name alone it prints the query, "
			  "which PostgreSQL, DuckDB, ClickHouse and Spark understand, too. Without "
			  "a name it lists the queries and the tables that they read; sql tables "
			  "prints the statements that make these."},
};

/* Reads --batches: "A:B", "A:", ":B" or "A". */
static bool take_batches(void *context, const char *argument)
{
	struct options *options = context;
	const char *colon = strchr(argument, ':'), *end = argument + strlen(argument);

	if (!colon) {
		if (!take_number(&options->first, argument, end))
			return false;
		options->last = options->first;
		return true;
	}
	if (colon != argument && !take_number(&options->first, argument, colon))
		return false;
	if (colon[1] && !take_number(&options->last, colon + 1, end))
		return false;
	return options->last < 0 || options->last >= options->first;
}

static bool take_interval(void *context, const char *argument)
{
	struct options *options = context;
	char *end;
	double seconds = strtod(argument, &end);

	if (*argument < '0' || *argument > '9' || *end || !(seconds >= 0.1 && seconds <= 3600))
		return false;
	options->interval_ms = (int64_t)(seconds * 1000);
	return true;
}

static bool take_meta(void *context, const char *argument)
{
	struct options *options = context;

	if (options->meta_count == OPTIONS_MOST_META || !strchr(argument, '='))
		return false;
	options->meta[options->meta_count++] = argument;
	return true;
}

static bool take_wish(void *context, const char *argument)
{
	struct options *options = context;

	if (options->wish_count == WHATIF_MOST_ASKED)
		return false;
	options->wishes[options->wish_count++].text = argument;
	return true;
}

static bool take_baseline(void *context, const char *argument)
{
	struct options *options = context;

	if (options->baseline_count == OPTIONS_MOST_BASELINES || !*argument)
		return false;
	options->baselines[options->baseline_count++] = argument;
	return true;
}

static bool add_limit(struct options *options, const char *text, bool is_error)
{
	if (options->limit_count == OPTIONS_MOST_LIMITS)
		return false;
	options->limits[options->limit_count++] = (struct option_limit){text, is_error};
	return true;
}

static bool take_limit(void *context, const char *argument)
{
	return add_limit(context, argument, true);
}

static bool take_warn(void *context, const char *argument)
{
	return add_limit(context, argument, false);
}

#define AT(field)     .offset = offsetof(struct options, field)
#define FLAG(field)   .kind = LINE_FLAG, AT(field)
#define TEXT(field)   .kind = LINE_TEXT, AT(field)
#define WHOLE(field)  .kind = LINE_WHOLE, AT(field)
#define CHOICE(field) .kind = LINE_CHOICE, AT(field)

static const struct line_option OPTIONS[] = {
	{"json", .help = "JSON; times in seconds, shares 0-1, null: not observed", FLAG(json),
	 .verbs = SHOWN | GATE | ON(VERB_FOLD) | ON(VERB_SQL)},
	{"verbose", 'v', .help = "everything, not only the one screen", FLAG(verbose),
	 .verbs = REPORT},
	{"coverage", .help = "only what was seen of a run, and what was not", FLAG(coverage),
	 .verbs = REPORT},
	{"markdown", .help = "as Markdown, for an issue or a job's page", FLAG(markdown),
	 .verbs = REPORT},
	{"csv", .help = "CSV; an empty cell: not observed", FLAG(csv),
	 .verbs = ON(VERB_BATCHES) | ON(VERB_SQL) | EXPORT},
	{"output", 'o', "FILE", .help = "write to FILE; - is standard output", TEXT(output),
	 .verbs = ALL},
	{"force", 'f', .help = "replace FILE if it exists", FLAG(force), .verbs = ALL},
	{"loader", 0, "N", .help = "take loader N, not the one with most time", WHOLE(loader),
	 .verbs = PART},
	{"epoch", 0, "N", .help = "only this epoch, counted from 0", WHOLE(epoch), .verbs = PART},
	{"batches", 0, "A:B", .help = "only the batches at positions A to B, counted from 0",
	 .take = take_batches, .verbs = PART},
	{"rank", 0, "N", .help = "only this rank of several runs or a folder", WHOLE(rank),
	 .verbs = PART},
	{"job", 0, "ID", .help = "only this job of several; 'ID (1)': its attempt 1", TEXT(job),
	 .verbs = PART | ON(VERB_FOLD) | EXPORT},
	{"color", 0, "WHEN", "auto|always|never", .help = "auto, always or never", CHOICE(color),
	 .verbs = ALL},
	{"ascii", .help = "only ASCII in text", FLAG(ascii), .verbs = ALL},
	{"quiet", 'q', .help = "no remarks on standard error, only errors", FLAG(quiet),
	 .verbs = ALL},
	{"what-if", 0, "KEY=VALUE", .help = "predict workers=8,prefetch_factor=4,load=.5,...",
	 .take = take_wish, .verbs = REPORT | ON(VERB_HTML)},
	{"redact", .help = "replace the names of paths, hosts and commands", FLAG(redact),
	 .verbs = ALL & ~ON(VERB_IMPORT)},
	{"worst", 0, "K", .help = "only the K longest waits and what was around them", WHOLE(worst),
	 .verbs = ON(VERB_TRACE)},
	{"view", 0, "VIEW", .help = "only this view: batch, load, file, ...", TEXT(view),
	 .verbs = EXPORT},
	{"into", 0, "FLEET.db", .help = "add the jobs to this SQLite database, or make it",
	 TEXT(into), .verbs = EXPORT},
	{"with-batches", .help = "with --into or --csv: each batch, too", FLAG(with_batches),
	 .verbs = EXPORT},
	{"interval", 0, "SECONDS", .help = "time between updates; default 2", .take = take_interval,
	 .verbs = ON(VERB_TOP)},
	{"meta", 0, "KEY=VALUE", .help = "workers=4, in_order=true, cores=8, sync=false",
	 .take = take_meta, .verbs = ON(VERB_IMPORT)},
	{"max-stall-ratio", 0, "R", .help = "fail if the ratio is above R (10%, 0.1), 99 % sure",
	 TEXT(max_stall_ratio), .verbs = GATE},
	{"limit", 0, "LIMIT", .help = "fail unless METRIC<=VALUE; may be repeated",
	 .take = take_limit, .verbs = GATE},
	{"warn", 0, "LIMIT", .help = "as --limit, but only warn", .take = take_warn, .verbs = GATE},
	{"baseline", 0, "RUN|DIR...", .many = true, .help = "runs to compare with, five or more",
	 .take = take_baseline, .verbs = GATE},
	{"min-effect", 0, "3pp", .help = "ignore increases up to this size", TEXT(min_effect),
	 .verbs = GATE},
	{"rule", 0, "RULE", "bound|separation", CHOICE(rule), .verbs = GATE,
	 .help = "bound, or separation: three runs above all baselines"},
	{"format", 0, "FORMS", .help = "text,github,json,junit=FILE,markdown=FILE", TEXT(format),
	 .verbs = GATE},
	{"on-inconclusive", 0, "DO", "fail|warn|pass", CHOICE(on_inconclusive), .verbs = GATE,
	 .help = "if the gate cannot say: fail (status 3), warn or pass"},
	{"on-few-baselines", 0, "DO", "fail|warn|pass", CHOICE(on_few_baselines), .verbs = GATE,
	 .help = "as --on-inconclusive, with fewer than five baselines"},
	{"ranks", 0, "N", .help = "how many ranks of a job load data; default: all", WHOLE(ranks),
	 .verbs = GATE},
	{"why", .help = "also say why the run waits, as the report does", FLAG(why), .verbs = GATE},
	{"calibrate", .help = "measure how often the gate fails on equal runs", FLAG(calibrate),
	 .verbs = GATE},
	{"update-baseline", .help = "copy a run that passed into the baseline folder",
	 FLAG(update_baseline), .verbs = GATE},
	{"explain", 0, "ID", .names = explain_id, TEXT(explain), .verbs = ALL,
	 .help = "what a cause, advice or metric means; all: list them"},
};

const struct line_program options_program = {
	.name = "dlprof-report",
	.summary = "how much of a training was spent waiting for data, and why",
	.verbs = VERBS,
	.verb_count = VERB_MAX,
	.options = OPTIONS,
	.option_count = ARRAY_COUNT(OPTIONS),
	.exits = "0 done, 1 gate failed, 2 bad usage or unreadable run, 3 cannot say",
	.about = "Reads a database that libdlprof.so recorded, and says whether the training "
		 "was starved for data, why, and what would help. What was not observed is left "
		 "out or marked, never shown as 0. Text fits the terminal and has colours only "
		 "there; NO_COLOR and TERM=dumb are respected. Without a run it takes the "
		 "newest one in this folder.",
	.examples = "dlprof-report\n"
		    "dlprof-report dlprof-8831.db\n"
		    "dlprof-report --explain head_of_line\n"
		    "dlprof-report batches --csv dlprof-8831.db\n"
		    "dlprof-report compare before.db after.db\n"
		    "dlprof-report trace --worst 50 dlprof-8831.db -o trace.json\n"
		    "dlprof-report import log.csv -o run.db --meta workers=4",
	.see_also = "dlprof(1), dlprof(7)",
};

static bool is_word(const char *text)
{
	return !strpbrk(text, "./") && access(text, F_OK) != 0;
}

static int read_wishes(struct options *options)
{
	char why[512];

	for (size_t i = 0; i < options->wish_count; i++)
		if (!wish_parse(options->wishes[i].text, &options->wishes[i], why, sizeof(why)))
			return line_problem(&options->line, "--what-if: %s", why);
	return 0;
}

/* Refuses options that contradict each other, or lack one that they need. */
static int check_together(struct options *options)
{
	const bool is_export = options->verb == VERB_EXPORT;
	const bool is_of_jobs = options->into || options->csv, is_of_run = is_export && !is_of_jobs;
	const struct {
		bool is_wrong;
		const char *why;
	} rows[] = {
		{options->update_baseline && !options->baseline_count,
		 "--update-baseline needs --baseline DIR"},
		{options->update_baseline && options->redact,
		 "--redact changes what is shown, not the run that --update-baseline keeps"},
		{options->update_baseline && options->calibrate,
		 "--calibrate judges no run, so --update-baseline has none to keep"},
		{options->json && options->markdown, "--json or --markdown, not both"},
		{options->verb == VERB_FOLD && options->json && options->output,
		 "-o FILE is for a partial; --json > FILE has the report"},
		{options->json && options->csv, "--json or --csv, not both"},
		{(options->view && is_of_jobs) ||
			 (options->into && (options->csv || options->output)),
		 "--into FLEET.db, --csv -o FOLDER and --view are three things; choose one"},
		{is_export && options->csv && !options->output,
		 "--csv needs a folder for its files: -o FOLDER"},
		{is_of_run && options->with_batches, "--with-batches goes with --into or --csv"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		if (rows[i].is_wrong)
			return line_problem(&options->line, "%s", rows[i].why);
	if (is_of_run && options->run_count > 1)
		return line_problem(&options->line,
				    "'%s' is one too many: views are of one run; --into FLEET.db "
				    "takes several",
				    options->runs[1]);
	if (is_of_run && !options->view && !options->output)
		return line_problem(&options->line, "all views need a folder: -o FOLDER; --view "
				    "names a single one");
	return 0;
}

static int check_words(struct options *options)
{
	struct line *line = &options->line;
	char near[NEAR_WORDS];
	int r;

	if (options->run && options->verb != VERB_IMPORT && strcmp(options->run, "-") == 0)
		return line_problem(line, "a run cannot be read from standard input");
	if (options->run && options->verb == VERB_REPORT && is_word(options->run)) {
		line_near_verb(&options_program, options->run, near);
		return line_problem(line, "'%s' is neither a verb nor a file%s",
				    options->run, *near ? near : " (see --help)");
	}
	r = line_check_words(&options_program, line);
	if (r == 0)
		r = read_wishes(options);
	if (r < 0)
		return r;
	if (options->worst == 0 || options->worst > OPTIONS_MOST_WORST)
		return line_problem(line, "--worst: 1 to %d", OPTIONS_MOST_WORST);
	return check_together(options);
}

static int parse(struct options *ret, int argc, char **argv)
{
	*ret = (struct options){.rank = -1, .ranks = -1, .epoch = -1, .loader = -1, .first = -1,
				.last = -1, .worst = -1, .interval_ms = 2000,
				.on_few_baselines = -1};
	return line_parse(&options_program, ret, argc, argv, &ret->line);
}

/*
 * A command line with options from files. In a file, each line has an option and its argument,
 * which may be quoted. A # at a line's start or after a space begins a comment.
 */
struct expansion {
	struct line *line;
	char *list[MOST_ARGUMENTS + 1];
	int count;
	char text[MOST_FILE_BYTES]; /* text of all option files; `list` points into it */
	size_t length;
};

static int add(struct expansion *all, char *argument)
{
	if (all->count == MOST_ARGUMENTS)
		return line_problem(all->line, "there are too many options");
	all->list[all->count++] = argument;
	return 0;
}

/* Removes blanks from both ends, then a pair of quotes. */
static char *trim(char *text)
{
	size_t length;

	text += strspn(text, " \t");
	length = strlen(text);
	while (length && strchr(" \t\r", text[length - 1]))
		length--;
	if (length > 1 && strchr("'\"", *text) && text[length - 1] == *text) {
		text++;
		length -= 2;
	}
	text[length] = '\0';
	return text;
}

/* Adds option and argument of a line like "--limit 'stall.ratio <= 10%' # why". */
static int add_row(struct expansion *all, char *row, const char *path, int number)
{
	char *option, *comment = row;
	int r;

	while ((comment = strchr(comment, '#')) && comment > row && !strchr(" \t", comment[-1]))
		comment++;
	if (comment)
		*comment = '\0';
	option = trim(row);
	if (!*option)
		return 0;
	if (*option != '-')
		return line_problem(all->line, "%s:%d: '%s' is no option: --limit 'METRIC<=VALUE'",
				    path, number, option);
	r = add(all, option);
	option += strcspn(option, " \t");
	if (r == 0 && *option) {
		*option++ = '\0';
		r = add(all, trim(option));
	}
	return r;
}

static int add_file(struct expansion *all, const char *path)
{
	FILE *file = fopen(path, "re");
	char *row = all->text + all->length, *next;
	size_t length, room = sizeof(all->text) - all->length - 1;
	int r = 0;

	if (!file)
		return line_problem(all->line, "cannot read '%s': %s", path, strerror(errno));
	errno = 0;
	length = fread(row, 1, room, file);
	if (ferror(file) || length == room || memchr(row, '\0', length))
		r = line_problem(all->line, "cannot read '%s': %s", path,
				 ferror(file)     ? strerror(errno)
				 : length == room ? "it is too large"
						  : "it is not a text");
	fclose(file);
	row[length] = '\0';
	all->length += length + 1;
	for (int number = 1; r == 0 && *row; number++, row = next) {
		next = row + strcspn(row, "\n");
		if (*next)
			*next++ = '\0';
		r = add_row(all, row, path, number);
	}
	return r;
}

static bool is_after_verb(const struct line *line, const char *argument)
{
	for (int i = 0; i < line->word_count; i++)
		if (line->words[i] == argument)
			return true;
	return false;
}

/*
 * Replaces each @FILE of the gate's command line `argv`, which was parsed into `line`, by the
 * options in the file. *ret has, in this order: the verb, the files' options, other options, "--",
 * the words. *ret_file is the last FILE. Without @FILE it is NULL, and *ret is unchanged. Returns
 * the number of arguments, or -EINVAL and `line->problem`.
 */
static int expand_files(struct line *line, int argc, char **argv, char ***ret,
			const char **ret_file)
{
	static struct expansion all; /* static: its texts are used until the program ends */
	int at = 1, r = 0;

	all = (struct expansion){.line = line};
	*ret_file = NULL;
	while (at < argc - 1 && strcmp(argv[at], "gate") != 0)
		at++;
	for (int i = 0; r == 0 && i <= at; i++)
		r = add(&all, argv[i]);
	for (int i = 0; r == 0 && i < line->word_count; i++) {
		if (*line->words[i] != '@')
			continue;
		*ret_file = line->words[i] + 1;
		r = add_file(&all, *ret_file);
	}
	for (int i = at + 1; r == 0 && i < argc; i++)
		if (!is_after_verb(line, argv[i]) && strcmp(argv[i], "--") != 0)
			r = add(&all, argv[i]);
	if (r == 0)
		r = add(&all, "--");
	for (int i = 0; r == 0 && i < line->word_count; i++)
		if (*line->words[i] != '@')
			r = add(&all, line->words[i]);
	if (r == 0 && *ret_file)
		*ret = all.list;
	return r < 0 ? r : *ret_file ? all.count : argc;
}

int options_parse(struct options *ret, int argc, char **argv)
{
	struct line *line = &ret->line;
	const char *file = NULL;
	int r = parse(ret, argc, argv);

	if (r == 0 && line->verb == VERB_GATE)
		r = argc = expand_files(line, argc, argv, &argv, &file);
	if (r >= 0 && file)
		r = parse(ret, argc, argv);
	if (r < 0)
		return r;
	ret->option_file = file;
	ret->verb = (enum verb)line->verb;
	ret->runs = line->words;
	ret->run_count = line->word_count;
	ret->run = line->word_count ? line->words[0] : NULL;
	if (ret->output && strcmp(ret->output, "-") == 0)
		ret->output = NULL;
	/* With --explain, --help or --version, no run is named. */
	return ret->explain || line->help || line->version ? 0 : check_words(ret);
}
