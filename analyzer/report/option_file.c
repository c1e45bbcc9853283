/* SPDX-License-Identifier: Apache-2.0 */
#include "report/option_file.h"

#include <errno.h>
#include <string.h>

#define MOST_BYTES (1 << 16)

struct expansion {
	struct line *line;
	char *list[OPTION_FILE_MOST + 1];
	int count;
	char text[MOST_BYTES]; /* text of all option files; `list` points into it */
	size_t length;
};

static int add(struct expansion *all, char *argument)
{
	if (all->count == OPTION_FILE_MOST)
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

static bool is_word(const struct line *line, const char *argument)
{
	for (int i = 0; i < line->word_count; i++)
		if (line->words[i] == argument)
			return true;
	return false;
}

/* Returns in this order: the verb, the files' options, other options, "--", the words. */
int option_file_expand(struct line *line, int argc, char **argv, const char *verb, char ***ret,
		       const char **ret_file)
{
	static struct expansion all; /* static: its texts are used until the program ends */
	int at = 1, r = 0;

	all = (struct expansion){.line = line};
	*ret_file = NULL;
	while (at < argc - 1 && strcmp(argv[at], verb) != 0)
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
		if (!is_word(line, argv[i]) && strcmp(argv[i], "--") != 0)
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
