/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_import.c - `dlprof-report import SERIES.csv -o RUN.db`: makes a run from a table of batches.
 * The output gets its name when it is complete.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/cmd.h"
#include "report/data/table.h"
#include "store/database/db_open.h"
#include "store/write/pack_write.h"
#include "store/write/write.h"

#define ROWS_A_COMMIT 100000

struct facts {
	int64_t workers, prefetch_factor, in_order, persistent, cores, sync, epochs;
};

static const struct fact {
	const char *key;
	size_t offset;
	bool is_flag;
} FACTS[] = {
	{"workers", offsetof(struct facts, workers), false},
	{"prefetch_factor", offsetof(struct facts, prefetch_factor), false},
	{"in_order", offsetof(struct facts, in_order), true},
	{"persistent_workers", offsetof(struct facts, persistent), true},
	{"cores", offsetof(struct facts, cores), false},
	{"sync", offsetof(struct facts, sync), true},
	{"epochs", offsetof(struct facts, epochs), false},
};

static bool take_fact(const struct fact *fact, const char *text, int64_t *ret)
{
	char *end;

	*ret = UNKNOWN;
	if (strcmp(text, "null") == 0)
		return true;
	if (fact->is_flag) {
		*ret = strcmp(text, "true") == 0;
		return *ret || strcmp(text, "false") == 0;
	}
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret = strtoll(text, &end, 10);
	return !*end && !errno && *ret <= INT32_MAX;
}

static int take_meta(const struct options *options, struct facts *ret)
{
	size_t i, f;

	for (f = 0; f < ARRAY_COUNT(FACTS); f++)
		*(int64_t *)((char *)ret + FACTS[f].offset) = UNKNOWN;
	for (i = 0; i < options->meta_count; i++) {
		const char *text = options->meta[i], *value = strchr(text, '=') + 1;
		size_t length = (size_t)(value - 1 - text);

		for (f = 0; f < ARRAY_COUNT(FACTS); f++)
			if (strlen(FACTS[f].key) == length &&
			    strncmp(FACTS[f].key, text, length) == 0)
				break;
		if (f == ARRAY_COUNT(FACTS))
			return cmd_fail("--meta: '%.*s' is none of workers, prefetch_factor, "
					"in_order, persistent_workers, cores, sync, epochs",
					(int)length, text);
		if (!take_fact(&FACTS[f], value, (int64_t *)((char *)ret + FACTS[f].offset)))
			return cmd_fail("--meta: %.*s is %s or null, not '%s'", (int)length, text,
					FACTS[f].is_flag ? "true, false" : "a number", value);
	}
	return 0;
}

struct import {
	struct db *db;
	struct writer *writer;
	int64_t loader_id;
	int64_t row_count;
	int64_t time_ns;
	int64_t rank;
	bool has_gpu;
};

static int write_row(struct import *import, struct table_row *row)
{
	struct batch_values *values = &row->batch;
	int r = 0;

	values->loader_id = import->loader_id;
	if (values->begin_ns < 0)
		values->begin_ns = import->time_ns;
	if (row->rank != UNKNOWN)
		import->rank = row->rank;
	if (values->gpu_idle_wait_ns != UNKNOWN)
		import->has_gpu = true;
	if (values->step_ns >= 0 &&
	    __builtin_add_overflow(import->time_ns, values->step_ns, &import->time_ns))
		import->time_ns = INT64_MAX;
	if (++import->row_count % ROWS_A_COMMIT == 0) {
		r = db_commit(import->db);
		if (r == 0)
			r = db_begin(import->db);
	}
	return r < 0 ? r : writer_batch(import->writer, values);
}

static int write_meta(struct import *import, const struct facts *facts)
{
	const struct {
		enum meta key;
		int64_t value;
	} numbers[] = {
		{META_SCHEMA, DB_SCHEMA_VERSION},
		{META_RANK, import->rank},
		{META_START_NS, 0},
		{META_END_NS, import->time_ns},
		{META_CPUS, facts->cores},
		{META_SYNC, facts->sync},
		{META_EPOCHS, facts->epochs},
	};
	int r = writer_meta(import->writer, META_VERSION, DLPROF_VERSION);

	if (r == 0)
		r = writer_meta(import->writer, META_CLOCK, import->has_gpu ? "gpu" : "host");
	if (r == 0)
		r = writer_meta(import->writer, META_FRAMEWORKS, "imported");
	for (size_t i = 0; r == 0 && i < ARRAY_COUNT(numbers); i++)
		if (numbers[i].value != UNKNOWN)
			r = writer_meta_number(import->writer, numbers[i].key, numbers[i].value);
	return r;
}

static int fail_table(const struct options *options, int error, const struct table_problem *problem)
{
	const char *name = strcmp(options->run, "-") == 0 ? "standard input" : options->run;

	if (error == -EINVAL)
		return cmd_fail("%s, line %zu, column %zu: %s", name, problem->line,
				problem->column, problem->text);
	return cmd_fail("cannot read '%s': %s", name, db_error(error));
}

static int copy(const struct options *options, struct table *table, const struct facts *facts,
		struct import *import)
{
	const struct loader_row loader = {
		.pid = 0,
		.number = 1,
		.workers = facts->workers,
		.prefetch_factor = facts->prefetch_factor,
		.in_order = facts->in_order,
		.persistent = facts->persistent,
		.batch_size = UNKNOWN,
		.kind = "imported",
	};
	struct table_problem problem = {0};
	struct table_row row;
	int more, r = writer_open(import->db, &import->writer);

	if (r == 0)
		r = db_begin(import->db);
	if (r == 0)
		r = writer_loader(import->writer, &loader, &import->loader_id);
	while (r == 0 && (more = table_next(table, &row, &problem)) != 0) {
		if (more < 0)
			return fail_table(options, more, &problem);
		r = write_row(import, &row);
	}
	if (r == 0 && !import->row_count)
		return cmd_fail("'%s' holds no batch", options->run);
	if (r == 0)
		r = write_meta(import, facts);
	if (r == 0)
		r = db_commit(import->db);
	if (r == 0)
		r = pack_write(import->db, import->writer);
	return r < 0 ? cmd_fail("cannot write '%s': %s", options->output, db_error(r)) : 0;
}

static int settle(const struct options *options, const char *from)
{
	int r = options->force ? rename(from, options->output) : link(from, options->output);

	if (r < 0)
		return cmd_fail("cannot write '%s': %s", options->output, strerror(errno));
	return CMD_DONE;
}

static int import_table(const struct options *options, struct table *table,
			const struct facts *facts)
{
	struct import import = {.rank = 0};
	char path[4096];
	int r, status;

	if (snprintf(path, sizeof(path), "%s.import-%ld", options->output, (long)getpid()) >=
	    (int)sizeof(path))
		return cmd_fail("cannot write '%s': %s", options->output, strerror(ENAMETOOLONG));
	unlink(path);
	r = db_open_write(path, &import.db);
	if (r < 0) {
		unlink(path);
		return cmd_fail("cannot write '%s': %s", options->output, db_error(r));
	}
	status = copy(options, table, facts, &import);
	writer_close(import.writer);
	db_close(import.db);
	if (!status)
		status = settle(options, path);
	unlink(path);
	return status;
}

static int check_output(const struct options *options)
{
	struct stat out;

	if (!options->output)
		return cmd_fail("import needs -o RUN.db");
	if (stat(options->output, &out) < 0)
		return 0;
	if (cmd_is_same_file(options->run, options->output))
		return cmd_fail("will not write over the table itself: '%s'", options->output);
	if (!S_ISREG(out.st_mode))
		return cmd_fail("cannot write '%s': not a file", options->output);
	return options->force ? 0 : cmd_fail("'%s' exists; -f replaces it", options->output);
}

int cmd_import(const struct options *options)
{
	bool from_stdin = strcmp(options->run, "-") == 0;
	struct table_problem problem = {0};
	struct table *table = NULL;
	struct facts facts;
	struct stat st;
	FILE *file;
	int r, status;

	status = take_meta(options, &facts);
	if (!status)
		status = check_output(options);
	if (status)
		return status;
	file = from_stdin ? stdin : fopen(options->run, "re");
	if (!file)
		return cmd_fail("cannot open '%s': %s", options->run, strerror(errno));
	if (fstat(fileno(file), &st) == 0 && S_ISDIR(st.st_mode))
		status = cmd_fail("cannot open '%s': %s", options->run, strerror(EISDIR));
	r = status ? 0 : table_open(file, &table, &problem);
	if (r < 0)
		status = fail_table(options, r, &problem);
	if (!status && *table_ignored(table) && !options->quiet)
		cmd_remark(options, "columns that are not known are left out: %s",
			   table_ignored(table));
	if (!status)
		status = import_table(options, table, &facts);
	table_close(table);
	if (!from_stdin)
		fclose(file);
	return status;
}
