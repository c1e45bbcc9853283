/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_sql.c - `dlprof-report sql [NAME [FLEET.db]]`: prints the names of the queries and tables.
 * With NAME, prints this query; with FLEET.db (made by export --into), the query's result.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/statistics/array.h"
#include "line/near.h"
#include "render/form/jsonw.h"
#include "render/form/units.h"
#include "report/cmd.h"
#include "report/data/sheet.h"
#include "report/queries.h"
#include "store/fleet/lake.h"

#define TABLES    "tables" /* no query has this name */
#define HANG      20
#define WIDE_HANG 30
#define PAGE_LINE 4096

static int list(const struct options *options, const void *what, const struct page *page)
{
	const char *name, *text;

	page_line(page, "dlprof-report sql NAME FLEET.db answers, dlprof-report sql NAME prints:");
	for (size_t i = 0; (name = queries_name(i)); i++) {
		text = queries_text(name);
		page_entry(page, 2, HANG, name, "%.*s", (int)strcspn(text, "\n") - 3, text + 3);
	}
	page_entry(page, 2, HANG, TABLES, "The statements that make the tables.");
	page_break(page);
	page_line(page, "The tables that dlprof-report export --into FLEET.db makes:");
#define LAKE_TABLE(table, keys, meaning)                                                           \
	page_entry(page, 0, HANG, #table, "%s; its key are the first %d columns", meaning, keys);
#define LAKE(type, column, meaning) page_entry(page, 2, HANG, #column, "%s: %s", #type, meaning);
#include "store/fleet/lake.def"
	return 0;
}

static int print_tables(const struct options *options, const void *what, const struct page *page)
{
	lake_put_schema(page->out);
	return 0;
}

static int print_text(const struct options *options, const void *what, const struct page *page)
{
	fputs(what, page->out);
	return 0;
}

/* all texts of a result, first the names of its columns */
struct table {
	const struct page *page;
	struct jsonw json;
	char **cells;
	bool *is_text;
	size_t column_count, count;
};

static int add_cell(struct table *table, const char *text)
{
	if (!ARRAY_GROW(table->cells, table->count))
		return -ENOMEM;
	table->cells[table->count] = strdup(text);
	return table->cells[table->count++] ? 0 : -ENOMEM;
}

static int add_names(const char *const *names, size_t count, void *context)
{
	struct table *table = context;
	int r = 0;

	table->column_count = count;
	table->is_text = calloc(count, sizeof(*table->is_text));
	for (size_t i = 0; r == 0 && i < count; i++)
		r = table->is_text ? add_cell(table, names[i]) : -ENOMEM;
	return r;
}

static int add_row(const struct export_cell *cells, size_t count, void *context)
{
	struct table *table = context;
	char number[32];
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		snprintf(number, sizeof(number), "%" PRId64, cells[i].integer);
		table->is_text[i] |= cells[i].type == EXPORT_TEXT;
		r = add_cell(table, cells[i].type == EXPORT_NULL      ? "-"
				    : cells[i].type == EXPORT_INTEGER ? number
				    : cells[i].type == EXPORT_REAL    ? UNITS_NUMBER(cells[i].real)
								      : cells[i].text);
	}
	return r;
}

/* Prints a table. If it is wider than the page, each cell gets its own line. */
static void put_table(const struct table *table)
{
	const struct page *page = table->page;
	const size_t columns = table->column_count;
	int *widths = calloc(columns + 1, sizeof(*widths)), width = 0;

	for (size_t i = 0; widths && i < table->count; i++)
		if (page_columns(page, table->cells[i]) > widths[i % columns])
			widths[i % columns] = page_columns(page, table->cells[i]);
	for (size_t k = 0; widths && k < columns; k++)
		width += widths[k] + 2;
	for (size_t i = width > page->width ? columns : 0; i < table->count; i += columns) {
		char line[PAGE_LINE] = "";

		for (size_t k = 0; k < columns; k++) {
			const char *cell = table->cells[i + k];
			const int rest = widths ? widths[k] - page_columns(page, cell) : 0;

			if (width > page->width)
				page_entry(page, 2, WIDE_HANG, table->cells[k], "%s", cell);
			else
				page_append(line, sizeof(line), "%*s%s%*s",
					    table->is_text[k] ? 0 : rest, "", cell,
					    k + 1 == columns    ? 0
					    : table->is_text[k] ? rest + 2
								: 2,
					    "");
		}
		page_line(page, "%s", line);
	}
	free(widths);
}

static int add_json_row(const struct export_cell *cells, size_t count, void *context)
{
	struct table *table = context;

	jsonw_open(&table->json, NULL, '{');
	for (size_t i = 0; i < count; i++) {
		const char *name = table->cells[i];

		if (cells[i].type == EXPORT_INTEGER)
			jsonw_int(&table->json, name, cells[i].integer);
		else if (cells[i].type == EXPORT_REAL)
			jsonw_number(&table->json, name, cells[i].real);
		else
			jsonw_string(&table->json, name,
				     cells[i].type == EXPORT_TEXT ? cells[i].text : NULL);
	}
	jsonw_close(&table->json, '}');
	return 0;
}

static int answer(const struct options *options, const char *sql, struct output *output)
{
	const char *path = options->runs[1];
	struct page page = cmd_page(options, output);
	struct table table = {.page = &page};
	struct sheet sheet = {.file = output->file};
	const struct export_sink sinks[] = {
		{add_names, add_row, &table},
		{add_names, add_json_row, &table},
		{sheet_names, sheet_row, &sheet},
	};
	int r;

	/* If the output is a file, a table may be wider than a terminal. */
	if (!isatty(fileno(output->file)))
		page.width = PAGE_LINE;
	if (options->json) {
		jsonw_begin(&table.json, output->file, "dlprof.sql/1");
		jsonw_string(&table.json, "query", options->run);
		jsonw_open(&table.json, "rows", '[');
	}
	r = lake_query(path, sql, &sinks[options->csv ? 2 : options->json]);
	if (r == 0 && options->json) {
		jsonw_close(&table.json, ']');
		jsonw_close(&table.json, '}');
	} else if (r == 0 && !options->csv) {
		put_table(&table);
	}
	while (table.count)
		free(table.cells[--table.count]);
	free(table.cells);
	free(table.is_text);
	if (r == 0 || ferror(output->file))
		return CMD_DONE;
	return cmd_fail("cannot read '%s': %s", path, lake_error(r));
}

int cmd_sql(const struct options *options)
{
	const char *sql = options->run ? queries_text(options->run) : NULL, *name;
	char words[NEAR_WORDS];
	struct output output;
	struct near near;
	int status;

	if (!options->run)
		return cmd_show(options, list, NULL, CMD_DONE);
	if (strcmp(options->run, TABLES) == 0 && options->run_count < 2)
		return cmd_show(options, print_tables, NULL, CMD_DONE);
	near = (struct near){options->run, strlen(options->run)};
	for (size_t i = 0; (name = queries_name(i)); i++)
		near_try(&near, name);
	if (!sql)
		return cmd_fail("no query is called '%s'%s", options->run,
				near.name ? near_words(&near, "", words)
					  : "; dlprof-report sql lists them");
	if (options->run_count < 2)
		return cmd_show(options, print_text, sql, CMD_DONE);
	status = cmd_open_output(options, &output);
	if (status)
		return status;
	return cmd_close_output(&output, answer(options, sql, &output));
}
