/* SPDX-License-Identifier: Apache-2.0 */
#include "render/run/batches.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "render/form/units.h"

enum column_type {
	COLUMN_INT,
	COLUMN_TIME, /* a time in ns, printed in seconds */
	COLUMN_FLAG,
	COLUMN_WORD,
};

static const struct column {
	const char *name;
	enum column_type type;
	size_t offset;
	const char *heading;
	int width;
} COLUMNS[] = {
#define COLUMN(name, type, member, heading, width, meaning)                                        \
	{name, COLUMN_##type, offsetof(struct batch_line, member), heading, width},
#include "render/run/batches.def"
#undef COLUMN
};

static int64_t number_of(const struct column *column, const struct batch_line *line)
{
	return *(const int64_t *)((const char *)line + column->offset);
}

static const char *word_of(const struct column *column, const struct batch_line *line)
{
	return *(const char *const *)((const char *)line + column->offset);
}

static void put_csv(FILE *out, const struct column *column, const struct batch_line *line)
{
	int64_t value;

	if (column->type == COLUMN_WORD) {
		if (word_of(column, line))
			fputs(word_of(column, line), out);
		return;
	}
	value = number_of(column, line);
	if (value == UNKNOWN)
		return;
	if (column->type == COLUMN_TIME)
		fputs(UNITS_SECONDS(value), out);
	else
		fprintf(out, "%" PRId64, value);
}

static void put_json(struct jsonw *json, const struct column *column, const struct batch_line *line)
{
	switch (column->type) {
	case COLUMN_INT:
		jsonw_int(json, column->name, number_of(column, line));
		break;
	case COLUMN_TIME:
		jsonw_ns(json, column->name, number_of(column, line));
		break;
	case COLUMN_FLAG:
		jsonw_tristate(json, column->name, number_of(column, line));
		break;
	case COLUMN_WORD:
		jsonw_string(json, column->name, word_of(column, line));
		break;
	}
}

static void put_text(FILE *out, const struct column *column, const struct batch_line *line)
{
	int64_t value = number_of(column, line);

	if (value == UNKNOWN)
		fprintf(out, " %*s", column->width, "-");
	else if (column->type == COLUMN_TIME)
		fprintf(out, " %*s", column->width, UNITS_TIME((double)value));
	else
		fprintf(out, " %*" PRId64, column->width, value);
}

static const char *remark_of(const struct batch_line *line)
{
	if (line->excluded)
		return strcmp(line->excluded, "epoch_start") == 0 ? "start" : "no step";
	return line->starved == 1 ? "starved" : "";
}

static void add_text(const struct page *page, const struct batch_line *line)
{
	const char *remark = remark_of(line);

	if (line->starved == 1)
		page_color(page, PAGE_RED);
	for (size_t i = 0; i < ARRAY_COUNT(COLUMNS); i++)
		if (COLUMNS[i].heading)
			put_text(page->out, &COLUMNS[i], line);
	if (*remark)
		fprintf(page->out, " %s", remark);
	if (line->starved == 1)
		page_color(page, PAGE_PLAIN);
	fputc('\n', page->out);
}

void batches_begin(struct batches *batches, enum batches_form form, const struct page *page,
		   const char *path)
{
	*batches = (struct batches){.form = form, .page = page};
	switch (form) {
	case BATCHES_TEXT:
		for (size_t i = 0; i < ARRAY_COUNT(COLUMNS); i++)
			if (COLUMNS[i].heading)
				fprintf(page->out, " %*s", COLUMNS[i].width, COLUMNS[i].heading);
		fputc('\n', page->out);
		break;
	case BATCHES_CSV:
		for (size_t i = 0; i < ARRAY_COUNT(COLUMNS); i++)
			fprintf(page->out, "%s%s", i ? "," : "", COLUMNS[i].name);
		fputc('\n', page->out);
		break;
	case BATCHES_JSON:
		jsonw_begin(&batches->json, page->out, "dlprof.batches/1");
		jsonw_string(&batches->json, "path", path);
		jsonw_open(&batches->json, "batches", '[');
		break;
	}
}

void batches_add(struct batches *batches, const struct batch_line *line)
{
	FILE *out = batches->page->out;

	switch (batches->form) {
	case BATCHES_TEXT:
		add_text(batches->page, line);
		break;
	case BATCHES_CSV:
		for (size_t i = 0; i < ARRAY_COUNT(COLUMNS); i++) {
			if (i)
				fputc(',', out);
			put_csv(out, &COLUMNS[i], line);
		}
		fputc('\n', out);
		break;
	case BATCHES_JSON:
		jsonw_open(&batches->json, NULL, '{');
		for (size_t i = 0; i < ARRAY_COUNT(COLUMNS); i++)
			put_json(&batches->json, &COLUMNS[i], line);
		jsonw_close(&batches->json, '}');
		break;
	}
}

void batches_end(struct batches *batches)
{
	if (batches->form != BATCHES_JSON)
		return;
	jsonw_close(&batches->json, ']');
	jsonw_close(&batches->json, '}');
}
