/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - writes manual pages and completions at build time: `generate dlprof.1`, `generate bash
 * dlprof`.
 */
#include <stdio.h>
#include <string.h>

#include "dlprof/units.h"
#include "launch/options.h"
#include "line/man.h"
#include "manual/facts.h"
#include "render/run/explain.h"
#include "report/options.h"

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
