/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - writes the manual pages, at build time: `generate dlprof.1`. Nothing in them is said but
 * in the tables of the programs.
 */
#include <stdio.h>
#include <string.h>

#include "dlprof/units.h"
#include "launch/options.h"
#include "line/man.h"
#include "render/explain.h"
#include "report/options.h"

static void man_launch(FILE *out)
{
	man_program(out, &launch_program);
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
	man_see_also(out, options_program.see_also);
}

static void man_started(FILE *out)
{
	man_section(out, "STARTING A TRAINING");
#define STARTED(subject, text) man_entry(out, subject, text);
#include "manual/started.def"
#undef STARTED
}

static void man_processes(FILE *out)
{
	man_section(out, "PROCESSES");
	man_text(out, "dlprof-drain, which writes the database, is no child of the program. Where "
		      "the program is process 1 of its PID namespace (a container without an "
		      "init), or adopts orphans (PR_SET_CHILD_SUBREAPER), dlprof-drain has a "
		      "parent of its own, dlprof-guard: a child that wait() sees only with __WALL "
		      "or __WCLONE, in the program's memory, and with its command line in ps(1). "
		      "It ends with the program.\n\n"
		      "When process 1 of a namespace ends, the kernel ends all others there, and "
		      "so dlprof-drain. What it had not stored by then, dlprof-report takes from "
		      "the shared memory, if that is kept: set DLPROF_SEGMENT_DIR to a folder "
		      "outside the container.");
}

static void man_places(FILE *out)
{
	man_section(out, "WHERE A RUN IS WRITTEN");
	man_text(out, "Into the file that DLPROF_OUT names, if its file system is local and can be "
		      "written. If that is a network's or a user-space program's, or is full, the "
		      "database is run.db in the folder to which RUN.db-segments leads, and a copy "
		      "is delivered every minute, more often at first, and at the end. "
		      "dlprof-report RUN.db reads the newer of the two.\n\n"
		      "What cannot be delivered stays in that folder. The line at exit says so, "
		      "and dlprof-report RUN.db delivers it as soon as there is room. In a "
		      "container that is removed with its folders, set DLPROF_SEGMENT_DIR to one "
		      "that is kept.");
}

static void man_trust(FILE *out)
{
	man_section(out, "TRUST");
#define TRUST(subject, text) man_entry(out, subject, text);
#include "manual/trust.def"
#undef TRUST
}

static void man_seen(FILE *out)
{
#define SEEN_SECTION(title) man_section(out, title);
#define SEEN(subject, text) man_entry(out, subject, text);
#include "manual/seen.def"
#undef SEEN
#undef SEEN_SECTION
}

static void man_environment(FILE *out)
{
	static const struct {
		const char *name, *wants, *value, *help;
	} settings[] = {
#define SETTING(name, wants, set, value, help) {#name, wants, value, help},
#include "dlprof/settings.def"
#undef SETTING
	};
	char text[1024];

	man_begin(out, "dlprof", 7, "what libdlprof.so records and reads from the environment");
	man_section(out, "DESCRIPTION");
	man_text(out, "libdlprof.so is preloaded into a training, by dlprof(1) or by LD_PRELOAD. "
		      "A value that makes no sense leaves the default in force, and a row in the "
		      "database's view note says so.");
	man_started(out);
	man_section(out, "ENVIRONMENT");
	for (size_t i = 0; i < ARRAY_COUNT(settings); i++) {
		snprintf(text, sizeof(text), "%s%s%s%s%s%s", settings[i].help,
			 settings[i].wants ? "\n\nIt wants " : "",
			 settings[i].wants ? settings[i].wants : "",
			 *settings[i].value ? "; the default is " : "", settings[i].value,
			 settings[i].wants ? "." : "");
		man_entry(out, settings[i].name, text);
	}
	man_seen(out);
	man_section(out, "PRIVACY");
	man_text(out,
		 "The database holds the command line of each recording process, the name of "
		 "the host, paths of data files and names of classes. In command lines what "
		 "looks like a secret is replaced by *** before it leaves the process: values "
		 "of options, assignments and fields whose name has a word like key, token, "
		 "secret, password, credential or auth, what stands before the @ of a URL, "
		 "and tokens of well-known shapes. A secret without such a name or shape is "
		 "not recognised.\n\nWhat dlprof-report shows with --redact has other names for "
		 "paths of files, folders and runs, for hosts, jobs and command lines: file-3, "
		 "host-1, the same for the same name within one output. Texts that quote "
		 "something or contain a slash are replaced, too. Numbers, and names of classes, "
		 "functions, "
		 "modules, ranges and GPUs stay. Messages on standard error are not changed.");
	man_processes(out);
	man_places(out);
	man_trust(out);
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

	for (size_t i = 0; argc == 2 && i < ARRAY_COUNT(pages); i++)
		if (strcmp(argv[1], pages[i].name) == 0) {
			pages[i].write(stdout);
			return fflush(stdout) != 0;
		}
	fprintf(stderr, "usage: generate PAGE\n");
	return 2;
}
