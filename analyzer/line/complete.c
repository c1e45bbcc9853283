/* SPDX-License-Identifier: Apache-2.0 */
#include "line/complete.h"

#include <string.h>

static void put_head(FILE *out, const struct line_program *program)
{
	fprintf(out, "# Completion of %s, made by the build from the table of its options.\n",
		program->name);
}

/* A shell function's name: dashes are not for all. */
static void put_function(FILE *out, const struct line_program *program)
{
	fputc('_', out);
	for (const char *at = program->name; *at; at++)
		fputc(*at == '-' ? '_' : *at, out);
}

/* "auto|always" as words. */
static void put_values(FILE *out, const char *values)
{
	for (; *values; values++)
		fputc(*values == '|' ? ' ' : *values, out);
}

static bool has_words(const struct line_option *row)
{
	return row->values || row->names;
}

static void put_each(FILE *out, const char *(*names)(size_t i))
{
	const char *name;

	for (size_t i = 0; (name = names(i)) != NULL; i++)
		fprintf(out, "%s%s", i ? " " : "", name);
}

/* All that an option can be. */
static void put_words(FILE *out, const struct line_option *row)
{
	if (row->values)
		put_values(out, row->values);
	else
		put_each(out, row->names);
}

static bool is_file(const struct line_option *row)
{
	return row->argument && strcmp(row->argument, "FILE") == 0;
}

static bool is_folder(const struct line_option *row)
{
	return row->argument && strcmp(row->argument, "DIR") == 0;
}

static void put_names(FILE *out, const struct line_option *row, const char *between)
{
	if (row->letter)
		fprintf(out, "-%c%s", row->letter, between);
	fprintf(out, "--%s", row->name);
}

/* The words of verbs, those alone that pass on, with something between. */
static void put_verbs(FILE *out, const struct line_program *program, bool passing,
		      const char *between)
{
	bool first = true;

	for (int i = 0; i < program->verb_count; i++) {
		const struct line_verb *verb = &program->verbs[i];

		if (!*verb->name || (passing && !verb->passes_on))
			continue;
		fprintf(out, "%s%s", first ? "" : between, verb->name);
		first = false;
	}
}

static bool any_passes_on(const struct line_program *program)
{
	for (int i = 0; i < program->verb_count; i++)
		if (program->verbs[i].passes_on)
			return true;
	return false;
}

/* Without a verb. */
static bool takes_words(const struct line_program *program)
{
	for (int i = 0; i < program->verb_count; i++)
		if (!*program->verbs[i].name)
			return program->verbs[i].most != 0;
	return false;
}

/* Files that end so and folders; any file where there are none. */
static void bash_files(FILE *out, const char *suffix, const char *indent)
{
	fprintf(out,
		"%smapfile -t files < <(compgen -f -X '!*%s' -- \"$cur\"; compgen -d -- \"$cur\")\n"
		"%s((${#files[@]})) || mapfile -t files < <(compgen -f -- \"$cur\")\n"
		"%scompopt -o filenames 2>/dev/null\n"
		"%sCOMPREPLY+=(\"${files[@]}\")\n",
		indent, suffix, indent, indent, indent);
}

static void bash_arguments(FILE *out, const struct line_program *program)
{
	fputs("\tcase $prev in\n", out);
	for (size_t i = 0; i < program->option_count; i++) {
		const struct line_option *row = &program->options[i];

		if (!row->argument)
			continue;
		fputs("\t", out);
		put_names(out, row, "|");
		fputs(")\n", out);
		if (has_words(row)) {
			fputs("\t\tCOMPREPLY=($(compgen -W '", out);
			put_words(out, row);
			fputs("' -- \"$cur\"))\n", out);
		} else if (row->suffix) {
			bash_files(out, row->suffix, "\t\t");
		} else if (is_file(row) || is_folder(row)) {
			fprintf(out,
				"\t\tcompopt -o filenames 2>/dev/null\n"
				"\t\tmapfile -t COMPREPLY < <(compgen -%c -- \"$cur\")\n",
				is_file(row) ? 'f' : 'd');
		}
		fputs("\t\treturn ;;\n", out);
	}
	fputs("\tesac\n", out);
}

static void bash_options(FILE *out, const struct line_program *program)
{
	fputs("\tcase $verb in\n", out);
	for (int i = program->verb_count - 1; i >= 0; i--) {
		fprintf(out, "\t%s) options='--help --version",
			*program->verbs[i].name ? program->verbs[i].name : "*");
		for (size_t k = 0; k < program->option_count; k++)
			if (program->options[k].verbs & LINE_ON(i))
				fprintf(out, " --%s", program->options[k].name);
		fputs("' ;;\n", out);
	}
	fputs("\tesac\n", out);
}

/* Which words take the next one as their argument. */
static void bash_command(FILE *out, const struct line_program *program)
{
	bool first = true;

	fputs("\tcase $verb in\n\t", out);
	put_verbs(out, program, true, "|");
	fputs(")\n\t\tfor ((i = at + 1; i < COMP_CWORD; i++)); do\n"
	      "\t\t\tcase ${COMP_WORDS[i]} in\n\t\t\t",
	      out);
	for (size_t i = 0; i < program->option_count; i++) {
		if (!program->options[i].argument)
			continue;
		fputs(first ? "" : "|", out);
		put_names(out, &program->options[i], "|");
		first = false;
	}
	fputs(") ((i++)) ;;\n\t\t\t--) ((i++)); break ;;\n\t\t\t-*) ;;\n\t\t\t*) break ;;\n"
	      "\t\t\tesac\n\t\tdone\n"
	      "\t\tif ((i < COMP_CWORD)) && declare -F _command_offset >/dev/null; then\n"
	      "\t\t\t_command_offset $i\n\t\t\treturn\n\t\tfi\n"
	      "\t\tif ((i <= COMP_CWORD)) && [[ $cur != -* || ${COMP_WORDS[i-1]} == -- ]]; then\n"
	      "\t\t\tmapfile -t COMPREPLY < <(compgen -c -- \"$cur\"; compgen -f -- \"$cur\")\n"
	      "\t\t\treturn\n\t\tfi ;;\n\tesac\n",
	      out);
}

/* What the words of some verbs are. */
static void bash_verb_words(FILE *out, const struct line_program *program)
{
	fputs("\tcase $verb in\n", out);
	for (int i = 0; i < program->verb_count; i++) {
		const struct line_verb *verb = &program->verbs[i];

		if (!verb->names && !verb->suffix)
			continue;
		fprintf(out, "\t%s)\n", *verb->name ? verb->name : "''");
		if (verb->names) {
			fputs("\t\tCOMPREPLY=($(compgen -W '", out);
			put_each(out, verb->names);
			fputs("' -- \"$cur\"))\n", out);
		} else {
			bash_files(out, verb->suffix, "\t\t");
		}
		fputs("\t\treturn ;;\n", out);
	}
	fputs("\tesac\n", out);
}

/* A verb, or what the program takes without one. */
static void bash_words(FILE *out, const struct line_program *program)
{
	fputs("\tif [[ ! $verb ]]; then\n\t\tCOMPREPLY=($(compgen -W '", out);
	put_verbs(out, program, false, " ");
	fputs("' -- \"$cur\"))\n", out);
	if (takes_words(program))
		fputs("\t\t# With \"filenames\" a verb would become the folder of that name.\n"
		      "\t\tfor i in \"${COMPREPLY[@]}\"; do\n"
		      "\t\t\t[[ -d $i ]] && return\n\t\tdone\n\tfi\n",
		      out);
	else
		fputs("\t\treturn\n\tfi\n", out);
	bash_verb_words(out, program);
	fputs("\tcompopt -o filenames 2>/dev/null\n"
	      "\tmapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$cur\")\n",
	      out);
}

void complete_bash(FILE *out, const struct line_program *program)
{
	put_head(out, program);
	put_function(out, program);
	fputs("()\n{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	      "\tlocal verb= options files i at=0\n\n"
	      "\tCOMPREPLY=()\n"
	      "\t# --name=value comes as three words.\n"
	      "\tif [[ $cur == = ]]; then\n\t\tcur=\n"
	      "\telif [[ $prev == = ]]; then\n\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n\tfi\n"
	      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n\t\tcase ${COMP_WORDS[i]} in\n\t\t",
	      out);
	put_verbs(out, program, false, "|");
	fputs(") verb=${COMP_WORDS[i]}; at=$i; break ;;\n\t\tesac\n\tdone\n", out);
	if (any_passes_on(program))
		bash_command(out, program);
	bash_arguments(out, program);
	bash_options(out, program);
	fputs("\tif [[ $cur == -* ]]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n\t\treturn\n\tfi\n",
	      out);
	bash_words(out, program);
	fputs("}\ncomplete -F ", out);
	put_function(out, program);
	fprintf(out, " %s\n", program->name);
}

/* Within single quotes; `special` is what the place gives a meaning of its own. */
static void put_quoted(FILE *out, const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'') {
			fputs("'\\''", out);
			continue;
		}
		if (strchr(special, *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void zsh_option(FILE *out, const struct line_option *row)
{
	fputs(" \\\n\t\t\t", out);
	if (row->letter)
		fprintf(out, "'(-%c --%s)'{-%c%s,--%s%s}'[", row->letter, row->name, row->letter,
			row->argument ? "+" : "", row->name, row->argument ? "=" : "");
	else
		fprintf(out, "'--%s%s[", row->name, row->argument ? "=" : "");
	put_quoted(out, row->help, "[]:\\");
	fputc(']', out);
	if (row->argument) {
		fputc(':', out);
		put_quoted(out, row->argument, ":\\");
		fputc(':', out);
	}
	if (has_words(row)) {
		fputc('(', out);
		put_words(out, row);
		fputc(')', out);
	} else if (row->suffix) {
		fprintf(out, "_files -g \"*%s\"", row->suffix);
	} else if (is_file(row)) {
		fputs("_files", out);
	} else if (is_folder(row)) {
		fputs("_files -/", out);
	}
	fputc('\'', out);
}

/* Folders, too; any file where none ends so. */
static void zsh_files(FILE *out, const struct line_verb *verb)
{
	fputs("_files", out);
	if (verb->suffix)
		fprintf(out, " -g \"*%s\"", verb->suffix);
}

static void zsh_verb(FILE *out, const struct line_program *program, int verb)
{
	const struct line_verb *row = &program->verbs[verb];

	fprintf(out, "\t%s)\n\t\t_arguments -s%s", *row->name ? row->name : "*",
		row->passes_on ? " -A '-*'" : "");
	for (size_t i = 0; i < program->option_count; i++)
		if (program->options[i].verbs & LINE_ON(verb))
			zsh_option(out, &program->options[i]);
	fputs(" \\\n\t\t\t'(-h --help)'{-h,--help}'[help]' '--version[version]'", out);
	fputs(" \\\n\t\t\t", out);
	if (!*row->name) {
		fputs("'1: :->first' '*:file:", out);
		zsh_files(out, row);
		fputs("'\n\t\t[[ $state == first ]] && { _describe verb verbs", out);
		if (row->most) {
			fputs("; ", out);
			zsh_files(out, row);
		}
		fputs(" } ;;\n", out);
	} else if (row->passes_on) {
		fputs("'*::command:_normal' ;;\n", out);
	} else if (row->names) {
		fputs("'1:name:(", out);
		put_each(out, row->names);
		fputs(")' ;;\n", out);
	} else {
		fputs("'*:file:", out);
		zsh_files(out, row);
		fputs("' ;;\n", out);
	}
}

void complete_zsh(FILE *out, const struct line_program *program)
{
	fprintf(out, "#compdef %s\n", program->name);
	put_head(out, program);
	put_function(out, program);
	fputs("()\n{\n\tlocal -a verbs=(\n", out);
	for (int i = 0; i < program->verb_count; i++) {
		if (!*program->verbs[i].name)
			continue;
		fprintf(out, "\t\t'%s:", program->verbs[i].name);
		put_quoted(out, program->verbs[i].help, ":\\");
		fputs("'\n", out);
	}
	fputs("\t)\n\tlocal verb= state\n\n\tcase ${words[2]} in\n\t", out);
	put_verbs(out, program, false, "|");
	fputs(")\n\t\tif ((CURRENT > 2)); then\n\t\t\tverb=${words[2]}\n"
	      "\t\t\tshift words\n\t\t\t((CURRENT--))\n\t\tfi ;;\n\tesac\n\tcase $verb in\n",
	      out);
	for (int i = program->verb_count - 1; i >= 0; i--)
		zsh_verb(out, program, i);
	fputs("\tesac\n}\n", out);
	put_function(out, program);
	fputs(" \"$@\"\n", out);
}

/* When an option is to be offered; nothing where it goes with all. */
static void fish_condition(FILE *out, const struct line_program *program, unsigned verbs)
{
	bool without = verbs & LINE_ON(0);
	int count = 0;

	for (int i = 1; i < program->verb_count; i++)
		count += !(verbs & LINE_ON(i)) == without;
	if (!count && without)
		return;
	fprintf(out, " -n '%s__fish_seen_subcommand_from", without ? "not " : "");
	for (int i = 1; i < program->verb_count; i++)
		if (!(verbs & LINE_ON(i)) == without)
			fprintf(out, " %s", program->verbs[i].name);
	fputc('\'', out);
}

static void fish_option(FILE *out, const struct line_program *program,
			const struct line_option *row)
{
	fprintf(out, "complete -c %s", program->name);
	fish_condition(out, program, row->verbs);
	if (row->letter)
		fprintf(out, " -s %c", row->letter);
	fprintf(out, " -l %s", row->name);
	if (has_words(row)) {
		fputs(" -x -a '", out);
		put_words(out, row);
		fputc('\'', out);
	} else if (row->suffix) {
		fprintf(out, " -r -k -a '(__fish_complete_suffix %s)'", row->suffix);
	} else if (is_file(row)) {
		fputs(" -r -F", out);
	} else if (is_folder(row)) {
		fputs(" -x -a '(__fish_complete_directories)'", out);
	} else if (row->argument) {
		fputs(" -x", out);
	}
	fputs(" -d '", out);
	for (const char *at = row->help; *at; at++)
		fprintf(out, strchr("'\\", *at) ? "\\%c" : "%c", *at);
	fputs("'\n", out);
}

/* What the words of a verb are. */
static void fish_words(FILE *out, const struct line_program *program, int verb)
{
	const struct line_verb *row = &program->verbs[verb];

	if (!row->names && !row->suffix)
		return;
	fprintf(out, "complete -c %s -n '", program->name);
	if (*row->name)
		fprintf(out, "__fish_seen_subcommand_from %s", row->name);
	else
		fputs("__fish_use_subcommand", out);
	if (row->names) {
		fputs("' -x -a '", out);
		put_each(out, row->names);
		fputs("'\n", out);
	} else {
		fprintf(out, "' -k -a '(__fish_complete_suffix %s)'\n", row->suffix);
	}
}

void complete_fish(FILE *out, const struct line_program *program)
{
	put_head(out, program);
	if (!takes_words(program))
		fprintf(out, "complete -c %s -n __fish_use_subcommand -f\n", program->name);
	for (int i = 0; i < program->verb_count; i++) {
		const struct line_verb *verb = &program->verbs[i];

		if (!*verb->name)
			continue;
		fprintf(out, "complete -c %s -n __fish_use_subcommand -a %s -d '", program->name,
			verb->name);
		for (const char *at = verb->help; *at; at++)
			fprintf(out, strchr("'\\", *at) ? "\\%c" : "%c", *at);
		fputs("'\n", out);
		if (verb->passes_on)
			fprintf(out,
				"complete -c %s -n '__fish_seen_subcommand_from %s' -x "
				"-a '(__fish_complete_subcommand --fcs-skip=2)'\n",
				program->name, verb->name);
	}
	for (int i = 0; i < program->verb_count; i++)
		fish_words(out, program, i);
	for (size_t i = 0; i < program->option_count; i++)
		fish_option(out, program, &program->options[i]);
	fprintf(out, "complete -c %s -s h -l help -d help\ncomplete -c %s -l version -d version\n",
		program->name, program->name);
}
