/* SPDX-License-Identifier: Apache-2.0 */
#include "render/run/batches.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "render/form/units.h"

enum column_type {
	COLUMN_INT,
	COLUMN_TIME, /* nanoseconds; the column's name ends in _s */
	COLUMN_FLAG,
	COLUMN_WORD,
};

/* A column without a heading is for programs only: a table for people has 80 columns. */
static const struct column {
	const char *name;
	enum column_type type;
	size_t offset;
	const char *heading;
	int width;
} COLUMNS[] = {
#define LINE(member)  offsetof(struct batch_line, member)
#define BATCH(member) offsetof(struct batch_line, batch.member)
	{"loader", COLUMN_INT, BATCH(loader_id), "loader", 6},
	{"epoch", COLUMN_INT, BATCH(epoch), "epoch", 5},
	{"batch", COLUMN_INT, BATCH(batch), "batch", 8},
	{"begin_s", COLUMN_TIME, LINE(begin_ns), NULL, 0},
	{"wait_s", COLUMN_TIME, BATCH(wait_ns), "wait", 9},
	{"receive_s", COLUMN_TIME, BATCH(receive_ns), NULL, 0},
	{"sample_s", COLUMN_TIME, BATCH(sample_ns), NULL, 0},
	{"fetch_s", COLUMN_TIME, BATCH(fetch_ns), NULL, 0},
	{"fetch_cpu_s", COLUMN_TIME, BATCH(fetch_cpu_ns), NULL, 0},
	{"fetch_count", COLUMN_INT, BATCH(fetch_count), NULL, 0},
	{"free_s", COLUMN_TIME, BATCH(free_ns), NULL, 0},
	{"compute_s", COLUMN_TIME, BATCH(compute_ns), "compute", 9},
	{"step_s", COLUMN_TIME, BATCH(step_ns), NULL, 0},
	{"before_s", COLUMN_TIME, BATCH(before_ns), NULL, 0},
	{"backward_s", COLUMN_TIME, BATCH(backward_ns), NULL, 0},
	{"between_s", COLUMN_TIME, BATCH(between_ns), NULL, 0},
	{"optimizer_s", COLUMN_TIME, BATCH(optimizer_ns), NULL, 0},
	{"save_s", COLUMN_TIME, BATCH(save_ns), NULL, 0},
	{"worker", COLUMN_INT, BATCH(worker_id), "worker", 6},
	{"load_s", COLUMN_TIME, BATCH(load_ns), "load", 9},
	{"ready_s", COLUMN_TIME, BATCH(ready_ns), "ready", 9},
	{"head_ready", COLUMN_FLAG, BATCH(head_ready), NULL, 0},
	{"qdepth", COLUMN_INT, BATCH(qdepth), NULL, 0},
	{"hol_s", COLUMN_TIME, BATCH(hol_ns), NULL, 0},
	{"open_s", COLUMN_TIME, BATCH(open_ns), NULL, 0},
	{"read_s", COLUMN_TIME, BATCH(read_ns), NULL, 0},
	{"decode_s", COLUMN_TIME, BATCH(decode_ns), NULL, 0},
	{"collate_s", COLUMN_TIME, BATCH(collate_ns), NULL, 0},
	{"other_s", COLUMN_TIME, BATCH(other_ns), NULL, 0},
	{"transfer_s", COLUMN_TIME, BATCH(transfer_ns), NULL, 0},
	{"read_bytes", COLUMN_INT, BATCH(read_bytes), NULL, 0},
	{"samples", COLUMN_INT, BATCH(samples), NULL, 0},
	{"gpu_busy_s", COLUMN_TIME, BATCH(gpu_busy_ns), NULL, 0},
	{"gpu_idle_wait_s", COLUMN_TIME, BATCH(gpu_idle_wait_ns), NULL, 0},
	{"h2d_s", COLUMN_TIME, BATCH(h2d_ns), NULL, 0},
	{"h2d_bytes", COLUMN_INT, BATCH(h2d_bytes), NULL, 0},
	{"starved", COLUMN_FLAG, LINE(starved), NULL, 0},
	{"excluded", COLUMN_WORD, LINE(excluded), NULL, 0},
#undef LINE
#undef BATCH
};

static int64_t number_of(const struct column *column, const struct batch_line *line)
{
	int64_t value;

	memcpy(&value, (const char *)line + column->offset, sizeof(value));
	return value;
}

static const char *word_of(const struct column *column, const struct batch_line *line)
{
	const char *word;

	memcpy(&word, (const char *)line + column->offset, sizeof(word));
	return word;
}

static void put_csv(FILE *out, const struct column *column, const struct batch_line *line)
{
	int64_t value;

	if (column->type == COLUMN_WORD) {
		/* These are our own words, so none needs quotes. */
		if (word_of(column, line))
			fputs(word_of(column, line), out);
		return;
	}
	value = number_of(column, line);
	if (value == QUERY_UNKNOWN)
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

	if (value == QUERY_UNKNOWN)
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
