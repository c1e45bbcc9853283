/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/predict/tune.h"
#include "dlprof/levels.h"
#include "dlprof/set.h"
#include "dlprof/units.h"
#include "launch/scene.h"
#include "line/near.h"

#define STOP_AFTER_MOST 999999999999LL /* libdlprof.so reads at most 12 digits */

static void list_keys(char *text, size_t size)
{
	*text = '\0';
	for (int i = 0; i < DLPROF_SET_MAX; i++)
		snprintf(text + strlen(text), size - strlen(text), "%s%s", i ? ", " : "",
			 dlprof_set_rows[i].key);
}

static const char *tfdata_code(const char *key, size_t length)
{
	static const char *const codes[][2] = {
		{"private_threadpool_size", "dataset.with_options() of options.threading"},
		{"max_intra_op_parallelism", "dataset.with_options() of options.threading"},
		{"num_parallel_calls", "map(..., num_parallel_calls=N)"},
		{"cycle_length", "interleave(..., cycle_length=N)"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(codes); i++)
		if (dlprof_set_is(key, length, codes[i][0]))
			return codes[i][1];
	return NULL;
}

static void say_key(const char *key, size_t length, char *problem, size_t size)
{
	struct near near = {key, length};
	const char *code = tfdata_code(key, length);
	char words[NEAR_WORDS], keys[160];

	if (code) {
		snprintf(problem, size,
			 "'%.*s' is a part of tf.data's graph, which only its program can set: %s",
			 (int)length, key, code);
		return;
	}
	for (int i = 0; i < DLPROF_SET_MAX; i++)
		near_try(&near, dlprof_set_rows[i].key);
	near_words(&near, "", words);
	list_keys(keys, sizeof(keys));
	snprintf(problem, size, "'%.*s' is no setting%s There are %s", (int)length, key,
		 *words ? words : ".", keys);
}

static bool is_same_place(const struct dlprof_set_entry *a, const struct dlprof_set_entry *b)
{
	if (!a->place || !b->place)
		return a->place == b->place;
	return a->place_length == b->place_length &&
	       memcmp(a->place, b->place, a->place_length) == 0;
}

/* Returns true for a setting that PyTorch refuses if there are no workers. */
static bool needs_workers(const struct dlprof_set_entry *entry)
{
	return entry->key == DLPROF_SET_PREFETCH || entry->key == DLPROF_SET_CONTEXT ||
	       (entry->key == DLPROF_SET_PERSISTENT && entry->value);
}

/* Returns false, and says why, if two settings of one loader contradict each other. */
static bool agree(const struct dlprof_set_list *list, char *problem, size_t size)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct dlprof_set_entry *a = &list->entries[i];
		const char *key = dlprof_set_rows[a->key].key;

		for (size_t k = 0; k < list->count; k++) {
			const struct dlprof_set_entry *b = &list->entries[k];

			if (!is_same_place(a, b))
				continue;
			if (a->key == b->key && a->value != b->value) {
				snprintf(problem, size, "%s is to have two values at once", key);
				return false;
			}
			if (b->key == DLPROF_SET_WORKERS && !b->value && needs_workers(a)) {
				snprintf(problem, size,
					 "%s needs workers, and workers=0 wants none", key);
				return false;
			}
		}
	}
	return true;
}

/* Returns true if all settings are valid; else `problem` says what would be valid. */
static bool set_check(const char *text, char *problem, size_t size)
{
	struct dlprof_set_list list;
	const char *at, *equals, *key;
	size_t length;
	enum dlprof_set_problem what = dlprof_set_parse(text, &list, &at, &length);
	const struct dlprof_set_row *row = NULL;

	if (what == DLPROF_SET_FINE)
		return agree(&list, problem, size);
	if (what != DLPROF_SET_TOO_MANY && list.entries[list.count].key < DLPROF_SET_MAX)
		row = &dlprof_set_rows[list.entries[list.count].key];
	equals = memchr(at, '=', length);
	key = memrchr(at, ':', equals ? (size_t)(equals - at) : length);
	key = key ? key + 1 : at;
	switch (what) {
	case DLPROF_SET_BAD_KEY:
		say_key(key, (size_t)((equals ? equals : at + length) - key), problem, size);
		break;
	case DLPROF_SET_BAD_VALUE:
		snprintf(problem, size, "'%.*s': %s takes %s", (int)length, at, row->key,
			 row->takes);
		break;
	case DLPROF_SET_BAD_PLACE:
		if (row && row->scope == DLPROF_SET_PROGRAM)
			snprintf(problem, size,
				 "'%.*s': %s is of the whole program and takes no place",
				 (int)length, at, row->key);
		else
			snprintf(problem, size,
				 "'%.*s': a place is that of one loader, as train.py:16:workers=8",
				 (int)length, at);
		break;
	default:
		snprintf(problem, size, "these are more than %d settings", DLPROF_SET_MOST);
		break;
	}
	return false;
}

#define ON      LINE_ON
#define RUN     ON(LAUNCH_RUN)
#define RECORDS (ON(LAUNCH_RUN) | ON(LAUNCH_DOCTOR) | ON(LAUNCH_DEMO))
#define TUNE    ON(LAUNCH_TUNE)
#define ALL     (RECORDS | TUNE)
#define LOOKS   (ON(LAUNCH_DOCTOR) | ON(LAUNCH_DEMO) | TUNE)

static const char *pattern(size_t i)
{
	return i < SCENE_COUNT ? SCENES[i].name : NULL;
}

static const struct line_verb VERBS[LAUNCH_VERB_MAX] = {
	[LAUNCH_NONE] = {"", "", "this list", .fewest = 0, .most = 0, .passes_on = true},
	[LAUNCH_RUN] = {"run", "[--] CMD...", "run a command and record its loaders", .fewest = 1,
			.most = -1, .passes_on = true,
			.about = "Sets LD_PRELOAD, CUDA_INJECTION64_PATH and what the options "
				 "say, runs the command, and prints the report on standard "
				 "error when it has ended. Exit status, signals and terminal "
				 "are the command's own. If each rank of a job has its own "
				 "dlprof run, only the first prints. Other preloads are kept. "
				 "Processes that the command starts inherit all this, so "
				 "torchrun, accelerate, srun and shell scripts work as they "
				 "are, and each rank gets a database of its own. Without a "
				 "loader nothing is recorded and no file is made."},
	[LAUNCH_DOCTOR] = {"doctor", "[[--] CMD...]",
			   "would batches, files, decoders and the GPU be seen here?", .fewest = 0,
			   .most = -1, .passes_on = true,
			   .about = "Checks what recording needs, one line each: ok, warn or "
				    "fail, and what to do. With a command, it runs that for a "
				    "while, or until enough batches came by, ends it, and "
				    "prints what dlprof-report --coverage says was seen of it, "
				    "and what was not; with --json, all of the report's JSON as "
				    "\"report\". The command's output goes to standard error, "
				    "and its input is empty. Without a command it tries a loop "
				    "over the loader of python3's PyTorch, else a simulated "
				    "loader."},
	[LAUNCH_DEMO] = {"demo", "[PATTERN]", "simulate a loader with a flaw, record it, report it",
			 .fewest = 0, .most = 1, .names = pattern,
			 .about = "Runs a training and workers that sleep where real ones would "
				  "work, and records them like any other training. Without "
				  "PATTERN it lists the patterns. It takes a few seconds and "
				  "needs no Python."},
	[LAUNCH_TUNE] = {"tune", "[--] CMD...", "try settings of a loader; what is proven?",
			 .fewest = 1, .most = -1, .passes_on = true,
			 .about = "Runs a PyTorch training once as it is, predicts what other "
				  "settings of its loader would bring, and then really runs it for "
				  "a while, as it is and with each setting that should pay, in "
				  "turn and each time from its start. What is proven to be faster "
				  "is printed with the line of code to change, what it does to "
				  "the samples, and what was not worth a trial.\n\n"
				  "No code is changed: see --set and --stop-after of dlprof run. A "
				  "run ends at its last batch without any of the program's own "
				  "code, but what the program writes before (checkpoints, logs of "
				  "experiments) each run writes: give it another folder for its "
				  "output, from which it does not resume, and WANDB_MODE=disabled. "
				  "Its standard output goes to files beside the databases, and its "
				  "input is empty.\n\n"
				  "Proven means that 95 % exclude no gain, over three rounds or "
				  "more, for all settings that are tried together. A run that "
				  "dies is a result. Ctrl-C prints what is known. Settings in "
				  "DLPROF_SET are those of all runs, so that what was proven can "
				  "be the base of the next tune."},
};

#define AT(field)    .offset = offsetof(struct launch_options, field)
#define FLAG(field)  .kind = LINE_FLAG, AT(field)
#define TEXT(field)  .kind = LINE_TEXT, AT(field)
#define WHOLE(field) .kind = LINE_WHOLE, AT(field)

/* Joins all --set by ";", so that a FILE:LINE in one does not apply to the next. */
static bool take_set(void *context, const char *argument)
{
	struct launch_options *options = context;
	size_t length = strlen(options->set);
	int more = snprintf(options->set + length, sizeof(options->set) - length, "%s%s",
			    length ? ";" : "", argument);

	options->has_set = true;
	options->set_is_too_long |= length + (size_t)more >= sizeof(options->set);
	return true;
}

static const struct line_option OPTIONS[] = {
	{"output", 'o', "FILE",
	 .help = "the database; %p, %r, ... as in DLPROF_OUT; of tune, a folder to make",
	 TEXT(output), .verbs = ALL},
	{"detail", .argument = "LEVEL", .values = DLPROF_LEVEL_CHOICE(DLPROF_DETAIL_LEVELS),
	 .help = DLPROF_LEVEL_LIST(DLPROF_DETAIL_LEVELS) " (DLPROF_DETAIL)", TEXT(detail),
	 .verbs = RUN},
	{"slow-us", .argument = "N", .help = "calls of N us or more are slow (DLPROF_SLOW_US)",
	 WHOLE(slow_us), .verbs = RUN},
	{"batch-fn", .argument = "NAME", TEXT(batch_fn),
	 .help = "module:Class.method of a loader of your own (DLPROF_BATCH_FN)", .verbs = RUN},
	{"cuda", .argument = "LEVEL", .values = DLPROF_LEVEL_CHOICE(DLPROF_CUDA_LEVELS),
	 .help = DLPROF_LEVEL_LIST(DLPROF_CUDA_LEVELS) " (DLPROF_CUDA)", TEXT(cuda), .verbs = RUN},
	{"segment-dir", .argument = "DIR", .help = "folder of shared memory (DLPROF_SEGMENT_DIR)",
	 TEXT(segment_dir), .verbs = RUN},
	{"log", .argument = "FILE", .help = "log there what dlprof does, or to stderr (DLPROF_LOG)",
	 TEXT(log), .verbs = RUN},
	{"always", .help = "record every process from its start (DLPROF_ACTIVATE)", FLAG(always),
	 .verbs = RUN},
	{"set", .argument = "KEY=VALUE", .take = take_set,
	 .help = "make loaders with workers=8,prefetch_factor=4,... (DLPROF_SET)", .verbs = RUN},
	{"stop-after", .argument = "N", WHOLE(stop_after),
	 .help = "end the command after N batches (DLPROF_STOP_AFTER)", .verbs = RUN},
	{"exec", .help = "become the command; no report when it has ended", FLAG(exec),
	 .verbs = RUN},
	{"dry-run", 'n', .help = "print what would be set and run, but run nothing", FLAG(dry_run),
	 .verbs = RUN},
	{"seconds", .argument = "N", .help = "end the command after N seconds; default 20",
	 WHOLE(seconds), .verbs = ON(LAUNCH_DOCTOR)},
	{"batches", .argument = "N", WHOLE(batches),
	 .help = "measure N batches of each run; default 100, or those of 20 s", .verbs = TUNE},
	{"rounds", .argument = "N", .help = "at most N rounds, 3 to 9; default 5", WHOLE(rounds),
	 .verbs = TUNE},
	{"max-time", .argument = "SECONDS", WHOLE(max_time),
	 .help = "begin no round that would not end in time, and measure fewer batches for that",
	 .verbs = TUNE},
	{"library", .argument = "FILE", .help = "the libdlprof.so to preload", TEXT(library),
	 .verbs = ALL},
	{"json", .help = "JSON", FLAG(json), .verbs = LOOKS},
	{"ascii", .help = "only ASCII characters in text", FLAG(ascii), .verbs = LOOKS},
	{"quiet", 'q', .help = "no remarks, no line at exit, no report (DLPROF_QUIET)", FLAG(quiet),
	 .verbs = ALL},
};

const struct line_program launch_program = {
	.name = "dlprof",
	.summary = "record how a training waits for its data",
	.verbs = VERBS,
	.verb_count = LAUNCH_VERB_MAX,
	.options = OPTIONS,
	.option_count = ARRAY_COUNT(OPTIONS),
	.exits = "of run, the command's (126: cannot be run, 127: not found); else 0 done, "
		 "1 doctor found a failure, 2 bad usage or nothing could be run, 3 tune ended "
		 "before anything could be proven",
	.about = "dlprof run does what LD_PRELOAD=libdlprof.so does, and first checks what "
		 "could go wrong. dlprof-report(1) reads what was recorded.",
	.examples = "dlprof run python train.py\n"
		    "dlprof run -o runs/%j-%r.db torchrun --nproc-per-node 8 train.py\n"
		    "dlprof run --set workers=8,persistent_workers=true python train.py\n"
		    "dlprof tune python train.py\n"
		    "dlprof doctor python train.py\n"
		    "dlprof demo head_of_line",
	.see_also = "dlprof-report(1), dlprof(7)",
};

int launch_options_parse(struct launch_options *ret, int argc, char **argv)
{
	struct line *line = &ret->line;
	char near[NEAR_WORDS], why[260];
	const char *set = getenv("DLPROF_SET");
	int r;

	*ret = (struct launch_options){.slow_us = -1, .stop_after = -1, .seconds = -1,
				       .batches = -1, .rounds = -1, .max_time = -1};
	r = line_parse(&launch_program, ret, argc, argv, line);
	if (r < 0)
		return r;
	ret->verb = (enum launch_verb)line->verb;
	ret->command = line->words;
	if (line->help || line->version)
		return 0;
	if (ret->verb == LAUNCH_NONE && line->word_count) {
		line_near_verb(&launch_program, line->words[0], near);
		if (*near)
			return line_problem(line, "'%s' is no verb%s", line->words[0], near);
		return line_problem(line, "'%s' is no verb; to run it: dlprof run %s ...",
				    line->words[0], line->words[0]);
	}
	if (ret->verb == LAUNCH_NONE)
		return line_problem(line, "something is missing: dlprof run CMD..., dlprof doctor "
					  "or dlprof demo (see --help)");
	if (ret->set_is_too_long)
		return line_problem(line, "--set: these are too many settings");
	if (ret->has_set && !set_check(ret->set, why, sizeof(why)))
		return line_problem(line, "--set: %s", why);
	/* All runs of `tune` get the settings of DLPROF_SET; each trial adds its own. */
	if (ret->verb == LAUNCH_TUNE && set && *set && !set_check(set, why, sizeof(why)))
		return line_problem(line, "DLPROF_SET: %s", why);
	if (ret->verb == LAUNCH_TUNE && set && strlen(set) >= sizeof(ret->set))
		return line_problem(line, "DLPROF_SET: these are too many settings");
	if (ret->stop_after == 0 || ret->stop_after > STOP_AFTER_MOST)
		return line_problem(line, "--stop-after: a number of batches from 1 to %lld",
				    STOP_AFTER_MOST);
	if (ret->batches >= 0 && ret->batches < LAUNCH_LEAST_BATCHES)
		return line_problem(line, "--batches: at least %d",
				    LAUNCH_LEAST_BATCHES);
	if (ret->rounds >= 0 && (ret->rounds < TUNE_LEAST || ret->rounds > TUNE_MOST))
		return line_problem(line, "--rounds: %d to %d", TUNE_LEAST, TUNE_MOST);
	return line_check_words(&launch_program, line);
}
