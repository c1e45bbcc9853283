/* SPDX-License-Identifier: Apache-2.0 */
#include "render/run/batches.h"

#include <inttypes.h>
#include <string.h>

#include "render/form/units.h"

static void csv_int(FILE *out, int64_t value)
{
	if (value != UNKNOWN)
		fprintf(out, "%" PRId64, value);
}
#define csv_tristate csv_int

static void csv_ns(FILE *out, int64_t ns)
{
	fputs(UNITS_SECONDS(ns), out);
}

static void csv_string(FILE *out, const char *text)
{
	fputs(text ? text : "", out);
}

static void add_csv(FILE *out, const struct batch_line *line)
{
	const char *between = "";

#define COLUMN(name, type, member, meaning)                                                        \
	fputs(between, out);                                                                       \
	csv_##type(out, line->member);                                                             \
	between = ",";
#define SHOWN(name, type, member, heading, width, meaning) COLUMN(name, type, member, meaning)
#include "render/run/batches.def"
	fputc('\n', out);
}

static void add_json(struct jsonw *json, const struct batch_line *line)
{
	jsonw_open(json, NULL, '{');
#define COLUMN(name, type, member, meaning) jsonw_##type(json, name, line->member);
#define SHOWN(name, type, member, heading, width, meaning) COLUMN(name, type, member, meaning)
#include "render/run/batches.def"
	jsonw_close(json, '}');
}

static void text_int(FILE *out, int width, int64_t value)
{
	if (value == UNKNOWN)
		fprintf(out, " %*s", width, "-");
	else
		fprintf(out, " %*" PRId64, width, value);
}

static void text_ns(FILE *out, int width, int64_t ns)
{
	fprintf(out, " %*s", width, ns == UNKNOWN ? "-" : UNITS_TIME((double)ns));
}

static const char *remark_of(const struct batch_line *line)
{
	if (line->excluded)
		return strcmp(line->excluded, "epoch_start") == 0 ? " start" : " no step";
	return line->starved == 1 ? " starved" : "";
}

static void add_text(const struct page *page, const struct batch_line *line)
{
	if (line->starved == 1)
		page_color(page, PAGE_RED);
#define COLUMN(name, type, member, meaning)
#define SHOWN(name, type, member, heading, width, meaning)                                         \
	text_##type(page->out, width, line->member);
#include "render/run/batches.def"
	fputs(remark_of(line), page->out);
	if (line->starved == 1)
		page_color(page, PAGE_PLAIN);
	fputc('\n', page->out);
}

void batches_begin(struct batches *batches, enum batches_form form, const struct page *page,
		   const char *path)
{
	const char *between = "";

	*batches = (struct batches){.form = form, .page = page};
	switch (form) {
	case BATCHES_TEXT:
#define COLUMN(name, type, member, meaning)
#define SHOWN(name, type, member, heading, width, meaning)                                         \
	fprintf(page->out, " %*s", width, heading);
#include "render/run/batches.def"
		fputc('\n', page->out);
		break;
	case BATCHES_CSV:
#define COLUMN(name, type, member, meaning)                                                        \
	fprintf(page->out, "%s%s", between, name);                                                 \
	between = ",";
#define SHOWN(name, type, member, heading, width, meaning) COLUMN(name, type, member, meaning)
#include "render/run/batches.def"
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
	switch (batches->form) {
	case BATCHES_TEXT:
		add_text(batches->page, line);
		break;
	case BATCHES_CSV:
		add_csv(batches->page->out, line);
		break;
	case BATCHES_JSON:
		add_json(&batches->json, line);
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
