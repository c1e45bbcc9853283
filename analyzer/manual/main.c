/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - writes manual pages and completions at build time: `generate dlprof.1`, `generate bash
 * dlprof`.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "analysis/gate/compare.h"
#include "dlprof/units.h"
#include "launch/options.h"
#include "line/man.h"
#include "render/run/explain.h"
#include "report/options.h"

struct fact {
	const char *key; /* NULL: end of an object or list */
	const char *type, *meaning;
	const char *const *names; /* keys of a map */
	int name_count;
	bool opens, is_list;
};

#define FACT(key, type, value, meaning)             {key, #type, meaning},
#define RANGE(key, low, high, meaning)              {key, "range", meaning},
#define NOTHING(key, meaning)                       {key, "null", meaning},
#define OBJECT(key, is_known, meaning)              {key, "object", meaning, .opens = true},
#define MAP(key, count, names, meaning)             {key, "map", meaning, names, count, true},
#define LIST(key, is_known, count, is_listed, meaning)                                             \
	{key, "list", meaning, .opens = true, .is_list = true},
#define VALUES(key, count, is_listed, type, value, meaning) {key, #type, meaning, .is_list = true},
#define COLUMN(name, type, member, meaning)         {name, #type, meaning},
#define SHOWN(name, type, member, heading, width, meaning) COLUMN(name, type, member, meaning)
#define END                                         {NULL},
#define END_MAP                                     {NULL},
#define END_LIST                                    {NULL},
#define ONLY_IF(condition)
#define END_IF
#define LET(...)
#define JOB(job)

static const struct fact run_facts[] = {
#include "render/run/report.def"
}, job_facts[] = {
#include "render/jobs/job.def"
#include "render/jobs/ranks.def"
}, jobs_facts[] = {
#include "render/jobs/jobs.def"
}, batches_facts[] = {
FACT("path", string, , "the database")
LIST("batches", , , , "each delivered batch")
#include "render/run/batches.def"
END_LIST
}, compare_facts[] = {
#include "render/run/compare.def"
}, gate_facts[] = {
#include "render/gate/gate.def"
}, calibration_facts[] = {
#include "render/gate/calibration.def"
}, sql_facts[] = {
FACT("query", string, , "its name")
LIST("rows", , , , "of the answer; keys are its columns")
END_LIST
}, tune_facts[] = {
#include "launch/tune/tune.def"
}, doctor_facts[] = {
#include "launch/doctor/doctor.def"
}, demo_facts[] = {
#include "launch/demo/demo.def"
};

static const char *type_words(const char *type)
{
	static const char *const words[][2] = {
		{"string", "text"}, {"words", "text"}, {"list", "list"}, {"map", "object"},
		{"int", "integer"}, {"size", "integer"}, {"whole", "integer"},
		{"ns", "seconds"}, {"seconds", "seconds"}, {"tristate", "bool"},
		{"range", "[low, high]"}, {"copy", "object"},
		{"setting", "text, integer or bool"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(words); i++)
		if (strcmp(words[i][0], type) == 0)
			return words[i][1];
	return type; /* other types have readable names already */
}

static void put_fact(FILE *out, const char *path, const struct fact *fact)
{
	char term[256], text[1024];
	size_t length;

	snprintf(term, sizeof(term), "%s%s (%s)", path, fact->is_list ? "[]" : "",
		 fact->opens && fact->is_list ? "list of objects" : type_words(fact->type));
	length = (size_t)snprintf(text, sizeof(text), "%s", fact->meaning);
	for (int i = 0; i < fact->name_count; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
					   i ? ", " : ". NAME is one of ", fact->names[i]);
	man_entry(out, term, text);
}

static void put_facts(FILE *out, const struct fact *facts, size_t count)
{
	char path[256] = "";
	size_t outer[8] = {0}, depth = 0, length = 0;

	for (size_t i = 0; i < count; i++) {
		const struct fact *fact = &facts[i];

		if (!fact->key) {
			length = outer[--depth];
			continue;
		}
		snprintf(path + length, sizeof(path) - length, "%s%s", length ? "." : "",
			 fact->key);
		put_fact(out, path, fact);
		if (!fact->opens)
			continue;
		assert(depth < ARRAY_COUNT(outer));
		outer[depth++] = length;
		length = strlen(path);
		length += (size_t)snprintf(path + length, sizeof(path) - length, "%s",
					   fact->is_list       ? "[]"
					   : fact->name_count ? ".NAME"
							      : "");
	}
}

#define PUT(out, title, text, facts)                                                               \
	(man_subsection(out, title, text), put_facts(out, facts, ARRAY_COUNT(facts)))

static void put_head(FILE *out)
{
	man_section(out, "JSON");
	man_text(out, "Each document begins with the key schema, its name. Times are seconds, "
		      "shares 0 to 1, and null is what was not observed or is not known; any value "
		      "may be null. KEY[] is a list. Keys are added, never removed and never given "
		      "another meaning.");
}

static void facts_report(FILE *out)
{
	put_head(out);
	PUT(out, "A run: dlprof.report/3", "Of --json without a verb, for one run.", run_facts);
	PUT(out, "A job: dlprof.report/3",
	    "Of --json without a verb, and of fold --json, for several ranks.", job_facts);
	PUT(out, "Several jobs: dlprof.report/3", "The same, where a folder holds several jobs.",
	    jobs_facts);
	PUT(out, "Batches: dlprof.batches/1", "Of batches --json; --csv has the same columns.",
	    batches_facts);
	PUT(out, "Two runs: dlprof.compare/2", "Of compare --json.", compare_facts);
	PUT(out, "A gate: dlprof.gate/2", "Of gate --json.", gate_facts);
	PUT(out, "A gate's errors: dlprof.gate/2", "Of gate --calibrate --json.",
	    calibration_facts);
	PUT(out, "A query: dlprof.sql/1", "Of sql --json.", sql_facts);
}

static void facts_launch(FILE *out)
{
	put_head(out);
	PUT(out, "Settings: dlprof.tune/1", "Of tune --json.", tune_facts);
	PUT(out, "What is seen: dlprof.doctor/1", "Of doctor --json.", doctor_facts);
	PUT(out, "Patterns: dlprof.demo/1", "Of demo --json.", demo_facts);
}

static void man_launch(FILE *out)
{
	man_program(out, &launch_program);
	facts_launch(out);
	man_see_also(out, launch_program.see_also);
}

static void man_explanations(FILE *out)
{
	static const struct {
		const char *kind, *title;
	} kinds[] = {{"cause", "CAUSES"}, {"advice", "ADVICE"}, {"metric", "METRICS"}};
	const struct explanation *explanation;
	char text[8192];

	for (size_t k = 0; k < ARRAY_COUNT(kinds); k++) {
		man_section(out, kinds[k].title);
		for (size_t i = 0; (explanation = explain_at(i)); i++) {
			if (strcmp(explanation->kind, kinds[k].kind) != 0)
				continue;
			snprintf(text, sizeof(text), "%s\n\n%s%s%s", explanation->line,
				 explanation->how ? explanation->how : "",
				 explanation->how ? "\n\n" : "", explanation->page);
			man_entry(out, explanation->id, text);
		}
	}
}

static void man_report(FILE *out)
{
	man_program(out, &options_program);
	man_explanations(out);
	facts_report(out);
	man_see_also(out, options_program.see_also);
}

static void man_settings(FILE *out)
{
	static const struct {
		const char *name, *wants, *value, *help;
	} settings[] = {
#define SETTING(name, wants, set, value, help) {#name, wants, value, help},
#include "dlprof/settings.def"
#undef SETTING
	};
	char text[1024];

	for (size_t i = 0; i < ARRAY_COUNT(settings); i++) {
		snprintf(text, sizeof(text), "%s%s%s%s%s%s", settings[i].help,
			 settings[i].wants ? "\n\nIt wants " : "",
			 settings[i].wants ? settings[i].wants : "",
			 *settings[i].value ? "; the default is " : "", settings[i].value,
			 settings[i].wants ? "." : "");
		man_entry(out, settings[i].name, text);
	}
}

static void man_environment(FILE *out)
{
	man_begin(out, "dlprof", 7, "what libdlprof.so records and reads from the environment");
#define SECTION(title)       man_section(out, title);
#define TEXT(text)           man_text(out, text);
#define ENTRY(subject, text) man_entry(out, subject, text);
#define SETTINGS             man_settings(out);
#include "manual/dlprof.def"
	man_see_also(out, "dlprof(1), dlprof-report(1), ld.so(8)");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*write)(FILE *out);
	} pages[] = {
		{"dlprof.1", man_launch},
		{"dlprof-report.1", man_report},
		{"dlprof.7", man_environment},
	};

	static const struct {
		const char *name;
		void (*write)(FILE *out, const struct line_program *program);
	} shells[] = {{"bash", complete_bash}, {"zsh", complete_zsh}, {"fish", complete_fish}};
	const struct line_program *program =
		argc == 3 && strcmp(argv[2], launch_program.name) == 0 ? &launch_program
								       : &options_program;

	for (size_t i = 0; argc == 3 && i < ARRAY_COUNT(shells); i++)
		if (strcmp(argv[1], shells[i].name) == 0) {
			shells[i].write(stdout, program);
			return fflush(stdout) != 0;
		}
	for (size_t i = 0; argc == 2 && i < ARRAY_COUNT(pages); i++)
		if (strcmp(argv[1], pages[i].name) == 0) {
			pages[i].write(stdout);
			return fflush(stdout) != 0;
		}
	fprintf(stderr, "usage: generate PAGE, or SHELL PROGRAM\n");
	return 2;
}
