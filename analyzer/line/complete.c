/* SPDX-License-Identifier: Apache-2.0 */
#include "line/man.h"

static void put_choices(FILE *out, const char *values, const char *(*names)(size_t i))
{
	const char *name;

	fputs(values ? " " : "", out);
	for (; values && *values; values++)
		fputc(*values == '|' ? ' ' : *values, out);
	for (size_t i = 0; names && (name = names(i)); i++)
		fprintf(out, " %s", name);
}

static void put_verbs(FILE *out, const struct line_program *program)
{
	for (int i = 1; i < program->verb_count; i++)
		fprintf(out, " %s", program->verbs[i].name);
}

/* Writes the values of an option's argument. If there are none, the shell offers files. */
static void bash_option(FILE *out, const struct line_option *row)
{
	if (!row->argument)
		return;
	fprintf(out, "\t--%s:*", row->name);
	if (row->letter)
		fprintf(out, " | -%c:*", row->letter);
	fputs(") list='", out);
	put_choices(out, row->values, row->names);
	fputs("' ;;\n", out);
}

static void bash_verb(FILE *out, const struct line_program *program, int verb)
{
	const struct line_verb *row = &program->verbs[verb];

	fprintf(out, "\t%s%s) list='", verb ? "*:" : "*", row->name);
	if (!verb)
		put_verbs(out, program);
	put_choices(out, NULL, row->names);
	for (size_t i = 0; i < program->option_count; i++) {
		const struct line_option *option = &program->options[i];

		if (!(option->verbs & LINE_ON(verb)))
			continue;
		fprintf(out, " --%s", option->name);
		if (option->letter)
			fprintf(out, " -%c", option->letter);
	}
	fprintf(out, " --help --version'%s ;;\n", row->passes_on && verb ? " commands=$cur" : "");
}

void complete_bash(FILE *out, const struct line_program *program)
{
	fprintf(out,
		"_%s_words()\n{\n"
		"	local cur=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD - 1]}\n"
		"	local verb= list= commands=\n\n"
		"	((COMP_CWORD == 1)) || verb=${COMP_WORDS[1]}\n"
		"	# --name=value is three words.\n"
		"	[[ $last != \"=\" ]] || last=${COMP_WORDS[COMP_CWORD - 2]}\n"
		"	[[ $cur != \"=\" ]] || cur=\n"
		"	case $last:$verb in\n",
		program->name);
	for (size_t i = 0; i < program->option_count; i++)
		bash_option(out, &program->options[i]);
	for (int i = 1; i < program->verb_count; i++)
		bash_verb(out, program, i);
	bash_verb(out, program, 0);
	fprintf(out,
		"	esac\n"
		"	COMPREPLY=($(compgen -W \"$list\" -- \"$cur\"))\n"
		"	[[ $COMP_CWORD != 2 || -z $commands ]] || "
		"COMPREPLY+=($(compgen -c -- \"$commands\"))\n"
		"}\n"
		"complete -o bashdefault -o default -F _%s_words %s\n",
		program->name, program->name);
}

void complete_zsh(FILE *out, const struct line_program *program)
{
	fprintf(out, "#compdef %s\nautoload -U +X bashcompinit && bashcompinit\n", program->name);
	complete_bash(out, program);
	fprintf(out, "_bash_complete -o bashdefault -o default -F _%s_words\n", program->name);
}

/* Begins a rule for a verb; verb 0: for the time before a verb is typed. */
static void fish_begin(FILE *out, const struct line_program *program, int verb)
{
	fprintf(out, "complete -c %s -n '%s__fish_seen_subcommand_from", program->name,
		verb ? "" : "not ");
	if (verb)
		fprintf(out, " %s", program->verbs[verb].name);
	else
		put_verbs(out, program);
	fputc('\'', out);
}

/* Writes the values of an argument that takes no other ones. */
static void fish_list(FILE *out, const char *values, const char *(*names)(size_t i))
{
	if (!values && !names)
		return;
	fputs(" -x -a '", out);
	put_choices(out, values, names);
	fputc('\'', out);
}

static void fish_help(FILE *out, const char *help)
{
	fputs(" -d '", out);
	for (; *help; help++)
		fprintf(out, "%s%c", *help == '\'' || *help == '\\' ? "\\" : "", *help);
	fputs("'\n", out);
}

static void fish_option(FILE *out, const struct line_option *row)
{
	fprintf(out, " -l %s", row->name);
	if (row->letter)
		fprintf(out, " -s %c", row->letter);
	fputs(row->argument ? " -r" : "", out);
	fish_list(out, row->values, row->names);
	fish_help(out, row->help);
}

void complete_fish(FILE *out, const struct line_program *program)
{
	for (int verb = 0; verb < program->verb_count; verb++) {
		const struct line_verb *row = &program->verbs[verb];

		if (verb) {
			fish_begin(out, program, 0);
			fprintf(out, " -a %s", row->name);
			fish_help(out, row->help);
		}
		fish_begin(out, program, verb);
		if (!row->most)
			fputs(" -f", out);
		else if (row->passes_on)
			fputs(" -x -a '(__fish_complete_subcommand --fcs-skip=2)'", out);
		fish_list(out, NULL, row->names);
		fputc('\n', out);
		for (size_t i = 0; i < program->option_count; i++) {
			if (!(program->options[i].verbs & LINE_ON(verb)))
				continue;
			fish_begin(out, program, verb);
			fish_option(out, &program->options[i]);
		}
	}
	fprintf(out, "complete -c %s -l help -s h -d '" LINE_HELP_HELP "'\n", program->name);
	fprintf(out, "complete -c %s -l version -d '" LINE_HELP_VERSION "'\n", program->name);
}
