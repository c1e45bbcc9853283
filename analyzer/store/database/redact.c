/* SPDX-License-Identifier: Apache-2.0 */
#include "store/database/redact.h"

#include <ctype.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/array.h"
#include "dlprof/units.h"

#define NO_MEMORY "(redacted)"
#define BLANKS    " \t\r\n"

static bool is_on;

/* A name that --redact hides, and the word that is printed instead. Never freed. */
struct name {
	enum redact_kind kind;
	const char *text;
	char word[];
};

static void *names; /* tree of struct name (tsearch(3)), by kind and text */
static size_t counts[REDACT_MAX];

/* Names of hosts: these are also replaced within free text. */
static struct name **hosts;
static size_t host_count;

static const char *const words[REDACT_MAX] = {
	[REDACT_ARGUMENTS] = "arguments", [REDACT_FILE] = "file",
	[REDACT_FOLDER] = "folder",       [REDACT_RUN] = "run",
	[REDACT_HOST] = "host",           [REDACT_JOB] = "job",
	[REDACT_MARK] = "mark",           [REDACT_OTHER] = "value",
};

void redact_begin(void)
{
	is_on = true;
}

bool redact_is_on(void)
{
	return is_on;
}

static int by_name(const void *a, const void *b)
{
	const struct name *left = a, *right = b;

	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	return strcmp(left->text, right->text);
}

/* Returns a name's word. A new name gets `word` or, if that is NULL, its kind and a number. */
static const char *word_for(enum redact_kind kind, const char *text, const char *word)
{
	const struct name wanted = {.kind = kind, .text = text};
	struct name **found = tfind(&wanted, &names, by_name), *name;
	size_t size = (word ? strlen(word) : 40) + 1, length = strlen(text) + 1;

	if (found)
		return (*found)->word;
	name = malloc(sizeof(*name) + size + length);
	if (!name)
		return NO_MEMORY;
	name->kind = kind;
	name->text = memcpy(name->word + size, text, length);
	if (word)
		memcpy(name->word, word, size);
	else
		snprintf(name->word, size, "%s-%zu", words[kind], ++counts[kind]);
	if (!tsearch(name, &names, by_name)) {
		free(name);
		return NO_MEMORY;
	}
	if (kind == REDACT_HOST && ARRAY_GROW(hosts, host_count))
		hosts[host_count++] = name;
	return name->word;
}

static bool is_of_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static const struct name *host_at(const char *text, const char *at)
{
	if (at > text && is_of_word(at[-1]))
		return NULL;
	for (size_t i = 0; i < host_count; i++) {
		size_t length = strlen(hosts[i]->text);

		if (strncmp(at, hosts[i]->text, length) == 0 && !is_of_word(at[length]))
			return hosts[i];
	}
	return NULL;
}

static bool has_slash(const char *at, size_t length)
{
	return memchr(at, '/', length) || memchr(at, '\\', length) || *at == '~';
}

static const char *quoted_end(const char *text, const char *at)
{
	const char *end;

	if ((*at != '\'' && *at != '"') || (at > text && is_of_word(at[-1])))
		return NULL;
	end = at + 1 + strcspn(at + 1, *at == '"' ? "\"\n" : "'\n");
	return *end == *at ? end + 1 : NULL;
}

static const char *word_of(enum redact_kind kind, const char *at, size_t length)
{
	char *copy = strndup(at, length);
	const char *word = copy ? word_for(kind, copy, NULL) : NO_MEMORY;

	free(copy);
	return word;
}

/* An unquoted path may contain blanks, so all that follows in its line is hidden, too. */
static void put_text(FILE *out, const char *text)
{
	const char *at = text;

	while (*at) {
		const char *end = quoted_end(text, at);
		const struct name *host = host_at(text, at);
		bool is_begin = at == text || !is_of_word(at[-1]);
		size_t length = strcspn(at, BLANKS);

		if (end) {
			fprintf(out, "'%s'",
				word_of(has_slash(at + 1, (size_t)(end - at - 2)) ? REDACT_FILE
										  : REDACT_OTHER,
					at + 1, (size_t)(end - at - 2)));
			at = end;
		} else if (host) {
			fputs(host->word, out);
			at += strlen(host->text);
		} else if (is_begin && length && has_slash(at, length)) {
			length = strcspn(at, "\n");
			fputs(word_of(REDACT_FILE, at, length), out);
			at += length;
		} else {
			fputc(*at++, out);
		}
	}
}

static void put_call(FILE *out, const char *text)
{
	size_t length = strcspn(text, BLANKS);

	if (has_slash(text, length))
		length = 0;
	fwrite(text, 1, length, out);
	if (text[length])
		fprintf(out, "%s%s", length ? " " : "",
			word_for(REDACT_FILE, text + length + (length > 0), NULL));
}

static void put_place(FILE *out, const char *text)
{
	const char *line = strrchr(text, ':');
	size_t length = line ? (size_t)(line - text) : strlen(text);

	fprintf(out, "%s%s", word_of(REDACT_FILE, text, length), text + length);
}

static void put_command(FILE *out, const char *text)
{
	size_t length = strcspn(text, BLANKS), begin = length;

	while (begin && text[begin - 1] != '/')
		begin--;
	fwrite(text + begin, 1, length - begin, out);
	if (text[length])
		fprintf(out, " %s", word_for(REDACT_ARGUMENTS, text, NULL));
}

/* Returns the redacted text. Equal texts are redacted once. */
static const char *made(enum redact_kind kind, const char *text, void (*put)(FILE *, const char *))
{
	const char *word = NO_MEMORY;
	char *buffer = NULL;
	size_t size;
	FILE *out = open_memstream(&buffer, &size);

	if (!out)
		return word;
	put(out, text);
	if (fclose(out) == 0)
		word = strcmp(buffer, text) == 0 ? text : word_for(kind, text, buffer);
	free(buffer);
	return word;
}

static bool is_number(const char *text)
{
	return !text[strspn(text, "0123456789.-")];
}

const char *redact(enum redact_kind kind, const char *text)
{
	if (!is_on || !text || !*text)
		return text;
	switch (kind) {
	case REDACT_NOT:
		return text;
	case REDACT_TEXT:
		return made(kind, text, put_text);
	case REDACT_CALL:
		return made(kind, text, put_call);
	case REDACT_PLACE:
		return made(kind, text, put_place);
	case REDACT_COMMAND:
		return made(kind, text, put_command);
	case REDACT_PEER:
		if (*text == '/' || *text == '@')
			return word_for(REDACT_FILE, text, NULL);
		return strchr(text, ':') ? word_for(REDACT_HOST, text, NULL) : text;
	case REDACT_JOB:
	case REDACT_OTHER:
		return is_number(text) ? text : word_for(kind, text, NULL);
	default:
		return word_for(kind, text, NULL);
	}
}

enum redact_kind redact_kind_of_column(const char *view, const char *column)
{
	/* NULL fits any view or column; the first row that fits counts */
	static const struct {
		const char *view, *column;
		enum redact_kind kind;
	} rows[] = {
		{NULL, "command", REDACT_COMMAND},
		{"folder", "path", REDACT_FOLDER},
		{NULL, "path", REDACT_FILE},
		{NULL, "place", REDACT_PLACE},
		{"mark", NULL, REDACT_MARK},
		{NULL, "host", REDACT_HOST},
		{NULL, "node", REDACT_HOST},
		{NULL, "job_id", REDACT_JOB},
		/* A query over many jobs may name columns freely, so all but two are hidden. */
		{"lake", "cause", REDACT_NOT},
		{"lake", "verdict", REDACT_NOT},
		{"lake", NULL, REDACT_OTHER},
		{"blocked", "name", REDACT_PEER},
		{"thread", NULL, REDACT_OTHER},
		{"frame", "file", REDACT_FILE},
		{"frame", NULL, REDACT_OTHER},
		{"slow", "what", REDACT_CALL},
	};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		if ((!rows[i].view || strcmp(view, rows[i].view) == 0) &&
		    (!rows[i].column || strcmp(column, rows[i].column) == 0))
			return rows[i].kind;
	return REDACT_TEXT;
}
