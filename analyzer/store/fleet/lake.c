/* SPDX-License-Identifier: Apache-2.0 */
#include "store/fleet/lake.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "dlprof/units.h"
#include "store/database/guard.h"
#include "store/database/rows.h"
#include "store/database/schema.h"

#define WAIT_MS (10 * 60 * 1000) /* longest wait for other writers: there may be hundreds */

enum type { TEXT, INTEGER, REAL };
/* SQL types that are known to all engines which read these tables */
static const char *const type_names[] = {"TEXT", "BIGINT", "DOUBLE PRECISION"};

struct column {
	const char *name;
	enum type type;
};

union cell {
	const char *text;
	int64_t integer;
	double real;
};

#define LAKE_TABLE(table, keys, meaning) static const struct column columns_of_##table[] = {
#define LAKE(type, column, meaning)      {#column, type},
#define LAKE_END(table)                                                                            \
	}                                                                                          \
	;                                                                                          \
	_Static_assert(sizeof(struct lake_##table) ==                                              \
			       ARRAY_COUNT(columns_of_##table) * sizeof(union cell),               \
		       "a row is an array of cells");
#include "store/fleet/lake.def"

enum table {
#define LAKE_TABLE(table, keys, meaning) TABLE_##table,
#include "store/fleet/lake.def"
	TABLES
};

static const struct table_info {
	const char *name;
	size_t key_count;
	const struct column *columns;
	size_t column_count;
} tables[] = {
#define LAKE_TABLE(table, keys, meaning)                                                           \
	{#table, keys, columns_of_##table, ARRAY_COUNT(columns_of_##table)},
#include "store/fleet/lake.def"
};

struct lake {
	const char *path;
	struct db db; /* its handle is NULL before the first job */
	sqlite3_stmt *inserts[TABLES];
	const char *job_id;
	int64_t attempt;
};

static void put_columns(FILE *out, const struct table_info *table, size_t count, bool has_types)
{
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "%s%s", i ? ", " : "", table->columns[i].name);
		if (has_types)
			fprintf(out, " %s%s", type_names[table->columns[i].type],
				i < table->key_count ? " NOT NULL" : "");
	}
}

static void put_tables(FILE *out, const char *end)
{
	for (size_t i = 0; i < TABLES; i++) {
		fprintf(out, "CREATE TABLE IF NOT EXISTS %s (", tables[i].name);
		put_columns(out, &tables[i], tables[i].column_count, true);
		fputs(", PRIMARY KEY (", out);
		put_columns(out, &tables[i], tables[i].key_count, false);
		fprintf(out, "))%s;\n", end);
	}
}

void lake_put_schema(FILE *out)
{
	put_tables(out, "");
}

const char *lake_table(size_t i)
{
	return i < TABLES ? tables[i].name : NULL;
}

/* Returns what `put` writes about the table `which`; NULL: no memory. The caller frees it. */
static char *sql_of(void (*put)(FILE *out, size_t which), size_t which)
{
	char *sql = NULL;
	size_t size;
	FILE *out = open_memstream(&sql, &size);

	if (!out)
		return NULL;
	put(out, which);
	if (fclose(out) == 0)
		return sql;
	free(sql);
	return NULL;
}

static void put_schema(FILE *out, size_t which)
{
	fprintf(out, "PRAGMA application_id = %d; PRAGMA user_version = %d;", LAKE_APPLICATION_ID,
		LAKE_VERSION);
	put_tables(out, " WITHOUT ROWID");
}

/* A damaged run may have a batch twice: then the later row replaces the earlier one. */
static void put_insert(FILE *out, size_t which)
{
	fprintf(out, "INSERT OR REPLACE INTO %s (", tables[which].name);
	put_columns(out, &tables[which], tables[which].column_count, false);
	fputs(") VALUES (?", out);
	for (size_t i = 1; i < tables[which].column_count; i++)
		fputs(", ?", out);
	fputs(")", out);
}

static void put_select(FILE *out, size_t which)
{
	fputs("SELECT ", out);
	put_columns(out, &tables[which], tables[which].column_count, false);
	fputs(" FROM (SELECT *, NULL AS job_id, NULL AS attempt, rank AS rank_id,"
	      " batch AS ordinal FROM batch)", out);
}

const char *lake_error(int error)
{
	switch (error) {
	case -EMEDIUMTYPE:
		return "export --into did not make it; name another file";
	case -EPROTONOSUPPORT:
		return "a newer dlprof made it; use that version's dlprof-report";
	case -EISDIR:
		return "it is a folder; name a file in it";
	case -ENOTDIR:
		return "its folder does not exist; make it first";
	case -EEXIST:
		return "it holds jobs, and --redact names anew at each export; name a new file";
	default:
		return db_error(error);
	}
}

static int check_identity(struct db *db)
{
	int64_t count, id, version;
	int r = rows_number(db, "SELECT COUNT(*) FROM sqlite_schema", &count);

	if (r == 0)
		r = rows_number(db, "PRAGMA application_id", &id);
	if (r == 0)
		r = rows_number(db, "PRAGMA user_version", &version);
	if (r < 0 || (!count && !id))
		return r;
	if (id != LAKE_APPLICATION_ID)
		return -EMEDIUMTYPE;
	return version > LAKE_VERSION ? -EPROTONOSUPPORT : 1;
}

bool lake_is(const char *path)
{
	struct db db = {.handle = NULL};
	bool is = guard_open(&db, path, DOOR_READ, WAIT_MS) == 0 && check_identity(&db) == 1;

	sqlite3_close(db.handle);
	return is;
}

int lake_query(const char *path, const char *sql, const struct export_sink *sink)
{
	sqlite3_stmt *stmt = NULL;
	struct db db = {.handle = NULL};
	int r = guard_open(&db, path, DOOR_READ, WAIT_MS);

	if (r == 0)
		r = check_identity(&db);
	if (r >= 0)
		r = r ? rows_prepare(&db, sql, &stmt) : -EMEDIUMTYPE;
	if (r == 0)
		r = export_rows(stmt, "lake", sink);
	sqlite3_finalize(stmt);
	sqlite3_close(db.handle);
	return r;
}

int lake_open(const char *path, bool is_for_new, struct lake **ret)
{
	struct lake *lake = calloc(1, sizeof(*lake));
	int64_t count = 0;
	int r;

	*ret = lake;
	if (!lake)
		return -ENOMEM;
	lake->path = path;
	r = guard_open(&lake->db, path, DOOR_WRITE, WAIT_MS);
	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = check_identity(&lake->db);
	if (r == 1 && is_for_new)
		r = rows_number(&lake->db, "SELECT COUNT(*) FROM job", &count);
	return r < 0 ? r : count ? -EEXIST : 0;
}

static int delete_job(struct lake *lake, size_t which)
{
	char sql[100];
	ROWS *stmt = NULL;

	snprintf(sql, sizeof(sql), "DELETE FROM %s WHERE job_id = ? AND attempt = ?",
		 tables[which].name);
	return rows_first(&lake->db, &stmt, sql, "sn", lake->job_id, lake->attempt);
}

static int make_tables(struct lake *lake)
{
	char *sql = sql_of(put_schema, 0);
	int r = sql ? db_run(&lake->db, sql) : -ENOMEM;

	free(sql);
	return r;
}

static int prepare(struct db *db, void (*put)(FILE *out, size_t which), size_t which,
		   sqlite3_stmt **ret_stmt)
{
	char *sql = sql_of(put, which);
	int r = sql ? rows_prepare(db, sql, ret_stmt) : -ENOMEM;

	free(sql);
	return r;
}

int lake_begin(struct lake *lake, const char *job_id, int64_t attempt)
{
	int r;

	lake->job_id = job_id;
	lake->attempt = attempt;
	r = lake->db.handle ? 0 : guard_open(&lake->db, lake->path, DOOR_MAKE, WAIT_MS);
	if (r == -ENOENT)
		return -ENOTDIR;
	if (r == 0)
		r = db_begin(&lake->db);
	if (r == 0)
		r = check_identity(&lake->db);
	if (r == 0)
		r = make_tables(lake);
	for (size_t i = 0; r >= 0 && i < TABLES; i++) {
		r = delete_job(lake, i);
		if (r >= 0 && !lake->inserts[i])
			r = prepare(&lake->db, put_insert, i, &lake->inserts[i]);
	}
	return r < 0 ? r : 0;
}

static int put(struct lake *lake, enum table which, const void *row)
{
	const struct table_info *table = &tables[which];
	const union cell *cells = row;
	sqlite3_stmt *stmt = lake->inserts[which];

	for (size_t i = 0; i < table->column_count; i++) {
		const int at = (int)i + 1;

		if (table->columns[i].type == TEXT)
			sqlite3_bind_text(stmt, at, cells[i].text, -1, SQLITE_STATIC);
		else if (table->columns[i].type == REAL && isfinite(cells[i].real))
			sqlite3_bind_double(stmt, at, cells[i].real);
		else if (table->columns[i].type == INTEGER && cells[i].integer != UNKNOWN)
			sqlite3_bind_int64(stmt, at, cells[i].integer);
		else
			sqlite3_bind_null(stmt, at);
	}
	sqlite3_step(stmt);
	return db_errno(sqlite3_reset(stmt));
}

#define LAKE_TABLE(table, keys, meaning)                                                           \
	int lake_put_##table(struct lake *lake, const struct lake_##table *row)                    \
	{                                                                                          \
		return put(lake, TABLE_##table, row);                                              \
	}
#include "store/fleet/lake.def"

int lake_put_run(struct lake *lake, struct db *run, int64_t rank_id)
{
	const struct table_info *table = &tables[TABLE_batch];
	union cell cells[ARRAY_COUNT(columns_of_batch)] = {
		{.text = lake->job_id}, {.integer = lake->attempt}, {.integer = rank_id}};
	ROWS *stmt = NULL;
	int r = schema_view(run, "t_rank");

	if (r == 0)
		r = schema_view(run, "batch");
	if (r == 0)
		r = prepare(run, put_select, TABLE_batch, &stmt);
	while (r >= 0 && (r = rows_next(stmt)) == 1) {
		for (size_t i = 3; i < table->column_count; i++)
			cells[i].integer = rows_int(stmt, (int)i);
		r = put(lake, TABLE_batch, cells);
	}
	return r;
}

int lake_commit(struct lake *lake)
{
	return db_commit(&lake->db);
}

int lake_cancel(struct lake *lake)
{
	return db_rollback(&lake->db);
}

void lake_close(struct lake *lake)
{
	if (!lake)
		return;
	for (size_t i = 0; i < TABLES; i++)
		sqlite3_finalize(lake->inserts[i]);
	sqlite3_close(lake->db.handle);
	free(lake);
}
