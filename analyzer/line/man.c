/* SPDX-License-Identifier: Apache-2.0 */
#include "line/man.h"

#include <string.h>

#define DATE "2026-11-21" /* last major change, for mandoc */

/* Writes a text for troff. The caller looks after the begins of lines. */
static void put(FILE *out, const char *text, size_t length)
{
	for (; length; length--, text++) {
		if (*text == '\\')
			fputs("\\e", out);
		else if (*text == '-')
			fputs("\\-", out);
		else
			fputc(*text, out);
	}
}

static void put_all(FILE *out, const char *text)
{
	put(out, text, strlen(text));
}

/* Writes lines so that none begins like a request of troff. */
static void put_lines(FILE *out, const char *text, size_t length)
{
	while (length) {
		size_t line = 0, word;

		while (line < length) {
			word = strcspn(text + line, " \n");
			if (line && line + word > 76)
				break;
			line += word;
			if (line < length)
				line++;
		}
		if (line > length)
			line = length;
		if (*text == '.' || *text == '\'')
			fputs("\\&", out);
		word = line;
		while (word && strchr(" \n", text[word - 1]))
			word--;
		for (size_t i = 0; i < word; i++)
			put(out, text[i] == '\n' ? " " : text + i, 1);
		fputc('\n', out);
		text += line;
		length -= line;
	}
}

static void put_paragraphs(FILE *out, const char *text, const char *between)
{
	for (;;) {
		const char *end = strstr(text, "\n\n");

		put_lines(out, text, end ? (size_t)(end - text) : strlen(text));
		if (!end)
			return;
		fprintf(out, "%s\n", between);
		text = end + 2;
	}
}

void man_begin(FILE *out, const char *name, int section, const char *summary)
{
	fprintf(out, ".\\\" Made by the build from the tables of the programs.\n");
	fputs(".TH ", out);
	for (const char *at = name; *at; at++)
		fputc(*at >= 'a' && *at <= 'z' ? *at - 'a' + 'A' : *at, out);
	fprintf(out, " %d %s \"dlprof " DLPROF_VERSION "\"\n.SH NAME\n", section, DATE);
	put_all(out, name);
	fputs(" \\- ", out);
	put_all(out, summary);
	fputc('\n', out);
}

void man_section(FILE *out, const char *title)
{
	fprintf(out, ".SH %s\n", title);
}

void man_subsection(FILE *out, const char *title, const char *text)
{
	fputs(".SS \"", out);
	put_all(out, title);
	fputs("\"\n", out);
	man_text(out, text);
}

void man_text(FILE *out, const char *text)
{
	put_paragraphs(out, text, ".PP");
}

static void put_entry(FILE *out, const char *text)
{
	put_paragraphs(out, text, ".IP");
}

void man_entry(FILE *out, const char *term, const char *text)
{
	fputs(".TP\n\\fB", out);
	put_all(out, term);
	fputs("\\fR\n", out);
	put_entry(out, text);
}

static void put_synopsis(FILE *out, const struct line_program *program)
{
	man_section(out, "SYNOPSIS");
	for (int i = 0; i < program->verb_count; i++) {
		const struct line_verb *verb = &program->verbs[i];

		/* A program without verb and arguments needs no line in the synopsis. */
		if (!*verb->name && !*verb->arguments)
			continue;
		if (i && (i > 1 || *program->verbs[0].arguments))
			fputs(".br\n", out);
		fputs("\\fB", out);
		put_all(out, program->name);
		if (*verb->name)
			fputc(' ', out);
		put_all(out, verb->name);
		fputs("\\fR [\\fIOPTIONS\\fR] ", out);
		put_all(out, verb->arguments);
		fputc('\n', out);
	}
}

static void put_verbs(FILE *out, const struct line_program *program)
{
	man_section(out, "VERBS");
	for (int i = 0; i < program->verb_count; i++) {
		const struct line_verb *verb = &program->verbs[i];

		if (!*verb->name && !*verb->arguments)
			continue;
		man_entry(out, *verb->name ? verb->name : "(none)", verb->help);
		if (verb->about) {
			fputs(".IP\n", out);
			put_entry(out, verb->about);
		}
	}
}

static void put_option(FILE *out, const struct line_program *program, const struct line_option *row)
{
	const unsigned all = (1u << program->verb_count) - 1;
	bool first = true;

	fputs(".TP\n", out);
	if (row->letter)
		fprintf(out, "\\fB\\-%c\\fR, ", row->letter);
	fputs("\\fB\\-\\-", out);
	put_all(out, row->name);
	fputs("\\fR", out);
	if (row->argument)
		fprintf(out, " \\fI%s\\fR", row->argument);
	fputc('\n', out);
	put_entry(out, row->help);
	if ((row->verbs & all) == all)
		return;
	fputs("(With ", out);
	for (int i = 0; i < program->verb_count; i++) {
		if (!(row->verbs & LINE_ON(i)))
			continue;
		fputs(first ? "" : ", ", out);
		put_all(out, *program->verbs[i].name ? program->verbs[i].name : "no verb");
		first = false;
	}
	fputs(".)\n", out);
}

static void put_examples(FILE *out, const char *text)
{
	man_section(out, "EXAMPLES");
	fputs(".nf\n", out);
	while (*text) {
		size_t length = strcspn(text, "\n");

		put(out, text, length);
		fputc('\n', out);
		text += length + (text[length] != '\0');
	}
	fputs(".fi\n", out);
}

void man_program(FILE *out, const struct line_program *program)
{
	man_begin(out, program->name, 1, program->summary);
	put_synopsis(out, program);
	if (program->about) {
		man_section(out, "DESCRIPTION");
		man_text(out, program->about);
	}
	put_verbs(out, program);
	man_section(out, "OPTIONS");
	for (size_t i = 0; i < program->option_count; i++)
		put_option(out, program, &program->options[i]);
	fputs(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\n" LINE_HELP_HELP "\n", out);
	fputs(".TP\n\\fB\\-\\-version\\fR\n" LINE_HELP_VERSION "\n", out);
	man_section(out, "EXIT STATUS");
	man_text(out, program->exits);
	if (program->examples)
		put_examples(out, program->examples);
}

void man_see_also(FILE *out, const char *pages)
{
	man_section(out, "SEE ALSO");
	man_text(out, pages);
}
