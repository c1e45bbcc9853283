/* SPDX-License-Identifier: Apache-2.0 */
#include "report/data/table.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "dlprof/units.h"

#define MOST_COLUMNS 256
#define LONGEST_LINE ((size_t)1 << 16)
#define MOST_NS      9.2e18

enum kind { COUNT, FLAG, TIME };

#define FIELD(name, field, kind)                                                                   \
	{                                                                                          \
		name, offsetof(struct table_row, field), kind                                      \
	}
static const struct field {
	const char *name;
	size_t offset;
	enum kind kind;
} FIELDS[] = {
	FIELD("batch", batch.batch, COUNT),
	FIELD("epoch", batch.epoch, COUNT),
	FIELD("rank", rank, COUNT),
	FIELD("worker_id", batch.worker_id, COUNT),
	FIELD("qdepth", batch.qdepth, COUNT),
	FIELD("head_ready", batch.head_ready, FLAG),
	FIELD("begin", batch.begin_ns, TIME),
	FIELD("wait", batch.wait_ns, TIME),
	FIELD("load", batch.load_ns, TIME),
	FIELD("compute", batch.compute_ns, TIME),
	FIELD("step", batch.step_ns, TIME),
	FIELD("load_cpu", batch.cpu_ns, TIME),
	FIELD("gpu_idle", batch.gpu_idle_wait_ns, TIME),
	FIELD("gpu_busy", batch.gpu_busy_ns, TIME),
};

static const struct unit {
	const char *name;
	int64_t ns;
	const char *step; /* the column that is meant if a column is named only "s", "ms", ... */
} UNITS[] = {{"s", 1000000000, "step_s"}, {"ms", 1000000, "step_ms"}, {"us", 1000, "step_us"},
	     {"ns", 1, "step_ns"}};

struct column {
	const struct field *field; /* NULL: the column is ignored */
	int64_t unit_ns;
};

struct table {
	FILE *file;
	char line[LONGEST_LINE + 1];
	size_t length;
	size_t number;
	struct column columns[MOST_COLUMNS];
	size_t column_count;
	char ignored[256];
	/* The next members are numbers of the previous row, as the file has them. */
	bool has_last;
	int64_t epoch, batch;
	int64_t rank;
	int64_t first; /* the number that the epoch's first batch has in the file */
};

__attribute__((format(printf, 4, 5))) static int complain(const struct table *table,
							  struct table_problem *problem,
							  size_t column, const char *format, ...)
{
	va_list args;

	problem->line = table->number;
	problem->column = column;
	va_start(args, format);
	vsnprintf(problem->text, sizeof(problem->text), format, args);
	va_end(args);
	return -EINVAL;
}

static int fill_line(struct table *table, struct table_problem *problem)
{
	int c = 0;

	for (table->length = 0; c != '\n' && (c = getc_unlocked(table->file)) != EOF;) {
		if (table->length == LONGEST_LINE)
			return complain(table, problem, LONGEST_LINE, "the line is too long");
		table->number += !table->length;
		table->line[table->length++] = (char)c;
	}
	table->line[table->length] = '\0';
	return ferror(table->file) ? -EIO : 0;
}

/* Reads lines up to the next that is not skipped. Returns 1, 0 at the end, or an error. */
static int read_line(struct table *table, struct table_problem *problem)
{
	for (;;) {
		int r = fill_line(table, problem);

		if (r < 0 || !table->length)
			return r;
		if (strlen(table->line) != table->length)
			return complain(table, problem, strlen(table->line) + 1,
					"a zero byte: this is not a text file");
		while (table->length && strchr("\r\n", table->line[table->length - 1]))
			table->line[--table->length] = '\0';
		if (table->line[strspn(table->line, " \t")] && table->line[0] != '#')
			return 1;
	}
}

/* Returns the first cell, without blanks and quotes. *at is set to the other cells, or to NULL. */
static char *next_cell(char **at)
{
	char *begin = *at, *end = strchr(begin, ','), *next = end ? end + 1 : NULL;

	if (!end)
		end = begin + strlen(begin);
	while (begin < end && isspace((unsigned char)*begin))
		begin++;
	while (end > begin && isspace((unsigned char)end[-1]))
		end--;
	if (end - begin >= 2 && *begin == '"' && end[-1] == '"') {
		begin++;
		end--;
	}
	*end = '\0';
	*at = next;
	return begin;
}

static bool find_column(const char *name, struct column *ret)
{
	*ret = (struct column){0};
	for (size_t u = 0; u < ARRAY_COUNT(UNITS); u++)
		if (strcmp(name, UNITS[u].name) == 0)
			name = UNITS[u].step;
	for (size_t f = 0; f < ARRAY_COUNT(FIELDS); f++) {
		size_t length = strlen(FIELDS[f].name);

		if (strncmp(name, FIELDS[f].name, length) != 0)
			continue;
		if (FIELDS[f].kind != TIME && !name[length]) {
			*ret = (struct column){&FIELDS[f], 1};
			return true;
		}
		for (size_t u = 0;
		     FIELDS[f].kind == TIME && name[length] == '_' && u < ARRAY_COUNT(UNITS); u++) {
			if (strcmp(name + length + 1, UNITS[u].name) == 0) {
				*ret = (struct column){&FIELDS[f], UNITS[u].ns};
				return true;
			}
		}
	}
	return false;
}

static bool lacks_unit(const char *name)
{
	for (size_t f = 0; f < ARRAY_COUNT(FIELDS); f++)
		if (FIELDS[f].kind == TIME && strcmp(name, FIELDS[f].name) == 0)
			return true;
	return false;
}

static int read_names(struct table *table, struct table_problem *problem)
{
	size_t known = 0, i;
	char *at = table->line;

	if (strncmp(at, "\xef\xbb\xbf", 3) == 0)
		at += 3;
	while (at) {
		struct column *column = &table->columns[table->column_count];
		size_t place = (size_t)(at - table->line) + 1;
		char *name = next_cell(&at);

		if (table->column_count == MOST_COLUMNS)
			return complain(table, problem, place, "more than %d columns",
					MOST_COLUMNS);
		if (!find_column(name, column)) {
			size_t used = strlen(table->ignored);

			if (lacks_unit(name))
				return complain(table, problem, place,
						"'%s' needs a unit: %s_s, %s_ms, %s_us or %s_ns",
						name, name, name, name, name);
			snprintf(table->ignored + used, sizeof(table->ignored) - used, "%s%s",
				 used ? ", " : "", name);
		}
		for (i = 0; column->field && i < table->column_count; i++)
			if (table->columns[i].field == column->field)
				return complain(table, problem, place, "'%s' appears twice", name);
		known += column->field && column->field->kind == TIME;
		table->column_count++;
	}
	if (!known)
		return complain(table, problem, 1,
				"the first line must name the columns, with a time among them "
				"(wait_ms, compute_ms, step_ms, ...)");
	return 0;
}

int table_open(FILE *file, struct table **ret_table, struct table_problem *problem)
{
	struct table *table = calloc(1, sizeof(*table));
	int r;

	*ret_table = table;
	if (!table)
		return -ENOMEM;
	table->file = file;
	table->rank = UNKNOWN;
	r = read_line(table, problem);
	if (r == 0)
		return complain(table, problem, 1, "the file is empty");
	return r < 0 ? r : read_names(table, problem);
}

void table_close(struct table *table)
{
	free(table);
}

const char *table_ignored(const struct table *table)
{
	return table->ignored;
}

/* Returns false also for "0x1", "inf" and "nan", which strtod() would take. */
static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789.eE+-")];
}

static const char *take_value(const char *text, const struct column *column, int64_t *ret)
{
	char *end;
	double value;

	if (!is_number(text))
		return "is not a number";
	errno = 0;
	*ret = strtoll(text, &end, 10);
	if (*end == '\0' && !errno) {
		if (*ret < 0)
			return "is below 0";
		if (__builtin_mul_overflow(*ret, column->unit_ns, ret))
			return "is too large";
	} else {
		value = strtod(text, &end) * (double)column->unit_ns;
		if (*end)
			return "is not a number";
		if (value < 0)
			return "is below 0";
		if (!(value < MOST_NS))
			return "is too large";
		if (column->field->kind != TIME && value != floor(value))
			return "is not a whole number";
		*ret = llrint(value);
	}
	if (column->field->kind != TIME && *ret > INT32_MAX)
		return "is too large";
	if (column->field->kind == FLAG && *ret > 1)
		return "is neither 0 nor 1";
	return NULL;
}

static const char *spell(const char *text, const struct column *column)
{
	if (column->field->kind != FLAG)
		return text;
	if (strcasecmp(text, "true") == 0)
		return "1";
	return strcasecmp(text, "false") == 0 ? "0" : text;
}

static int read_cells(struct table *table, struct table_row *row, size_t *ret_batch_place,
		      struct table_problem *problem)
{
	char *at = table->line;
	size_t i = 0;

	*ret_batch_place = 1;
	for (; at; i++) {
		size_t place = (size_t)(at - table->line) + 1;
		char *cell = next_cell(&at);
		const char *why;
		int64_t value;

		if (i == table->column_count)
			return complain(table, problem, place, "more cells than columns (%zu)",
					table->column_count);
		if (!table->columns[i].field || !*cell)
			continue;
		if (table->columns[i].field->offset == offsetof(struct table_row, batch.batch))
			*ret_batch_place = place;
		why = take_value(spell(cell, &table->columns[i]), &table->columns[i], &value);
		if (why)
			return complain(table, problem, place, "'%.40s' %s", cell, why);
		memcpy((char *)row + table->columns[i].field->offset, &value, sizeof(value));
	}
	if (i < table->column_count)
		return complain(table, problem, table->length + 1, "%zu cells, but %zu columns", i,
				table->column_count);
	return 0;
}

static int place_row(struct table *table, struct table_row *read, size_t place,
		     struct table_problem *problem)
{
	struct batch_values *row = &read->batch;
	bool new_epoch;

	if (row->epoch == UNKNOWN)
		row->epoch = table->has_last ? table->epoch : 0;
	new_epoch = !table->has_last || row->epoch != table->epoch;
	if (table->has_last && row->epoch < table->epoch)
		return complain(table, problem, place,
				"epoch %lld after epoch %lld; rows must stand in order",
				(long long)row->epoch, (long long)table->epoch);
	if (row->batch == UNKNOWN)
		row->batch = table->has_last ? table->batch + 1 : 0;
	if (!new_epoch && row->batch <= table->batch)
		return complain(table, problem, place, "batch %lld %s", (long long)row->batch,
				row->batch == table->batch ? "appears twice"
							   : "stands after a later one");
	if (read->rank != UNKNOWN) {
		if (table->rank != UNKNOWN && read->rank != table->rank)
			return complain(table, problem, place,
					"rank %lld after rank %lld; one rank makes a run",
					(long long)read->rank, (long long)table->rank);
		table->rank = read->rank;
	}
	/* If batch numbers go on from one epoch to the next, the epoch's first row is its first
	 * batch. If numbers start again, they start at 1 if the first row has 1, else at 0. If the
	 * first row has another number, the batches before it were lost. */
	if (new_epoch)
		table->first = table->has_last && row->batch > table->batch ? row->batch
			       : row->batch == 1                            ? 1
									    : 0;
	table->has_last = true;
	table->epoch = row->epoch;
	table->batch = row->batch;
	row->batch -= table->first;
	row->task = row->batch;
	return 0;
}

static void complete(struct batch_values *row)
{
	bool wait = row->wait_ns >= 0, compute = row->compute_ns >= 0, step = row->step_ns >= 0;

	if (wait && compute && !step &&
	    __builtin_add_overflow(row->wait_ns, row->compute_ns, &row->step_ns))
		row->step_ns = INT64_MAX;
	if (wait && step && !compute)
		row->compute_ns = row->step_ns > row->wait_ns ? row->step_ns - row->wait_ns : 0;
	if (compute && step && !wait)
		row->wait_ns = row->step_ns > row->compute_ns ? row->step_ns - row->compute_ns : 0;
}

int table_next(struct table *table, struct table_row *ret_row, struct table_problem *problem)
{
	size_t place;
	int r = read_line(table, problem);

	if (r <= 0)
		return r;
	batch_values_init(&ret_row->batch);
	ret_row->rank = UNKNOWN;
	r = read_cells(table, ret_row, &place, problem);
	if (r == 0)
		r = place_row(table, ret_row, place, problem);
	if (r < 0)
		return r;
	complete(&ret_row->batch);
	return 1;
}
