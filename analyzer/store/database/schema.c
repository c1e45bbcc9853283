/* SPDX-License-Identifier: Apache-2.0 */
#include "store/database/schema.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "schema_sql.h"

#include "dlprof/units.h"
#include "store/database/rows.h"

#define MOST_NAME 64

static const char INSERT_VIEW_SQL[] =
	"INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES"
	" ('view', ?1, ?1, 0, ?2)";

#define MOST_ADDED 10

/*
 * Columns that older databases lack. A writer adds them; a reader sees NULL in them. If the column
 * `sign` is missing, too, or no sign is named, the table itself is missing or of another kind.
 */
static const struct added {
	const char *table, *sign, *columns[MOST_ADDED];
} ADDED[] = {
	{"t_mark", "text", {"ns INTEGER"}},
	{"t_gap", NULL, {"why TEXT"}},
	{"t_gpu_step", "task", {"gpu_compute_ns INTEGER", "gpu_loading_ns INTEGER"}},
	{"t_gpu_device", NULL, {"task INTEGER"}},
	{"t_gpu_call", NULL, {"task INTEGER"}},
	{"t_gpu_part", NULL, {"task INTEGER"}},
	{"t_kernel", NULL, {"symbol TEXT"}},
	{"t_loader", "loader_id", {"place TEXT", "lacks_order INTEGER"}},
	{"t_epoch", "loader_id",
	 {"tid INTEGER", "nested INTEGER", "stop_begin_ns INTEGER", "stop_ns INTEGER",
	  "save_ns INTEGER", "sample_ns INTEGER"}},
	{"t_frame", NULL, {"line INTEGER"}},
	{"t_stack", NULL, {"ns INTEGER"}},
	{"t_doing", NULL, {"since_ns INTEGER"}},
	{"t_use", NULL, {"swapped_bytes INTEGER"}},
	{"t_thread", NULL, {"cpu_ns INTEGER"}},
	{"t_made", "batch_bytes", {"object_count INTEGER"}},
	{"t_stage", NULL, {"kind TEXT"}},
	{"t_stage_sum", NULL, {"ready INTEGER"}},
	{"t_process", "pid", {"exit_status INTEGER"}},
	{"t_batch", "task",
	 {"sample_ns INTEGER", "fetch_ns INTEGER", "fetch_cpu_ns INTEGER", "fetch_count INTEGER",
	  "free_ns INTEGER", "before_ns INTEGER", "backward_ns INTEGER", "between_ns INTEGER",
	  "optimizer_ns INTEGER", "save_ns INTEGER"}},
};

static int each_view(int (*take)(void *context, const char *name, const char *sql), void *context)
{
	static const char create[] = "\nCREATE VIEW ";
	const char *at = schema_sql;
	char name[MOST_NAME];
	int r = 0;

	while (r == 0 && (at = strstr(at, create))) {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(at + sizeof(create) - 1, " "),
			 at + sizeof(create) - 1);
		r = take(context, name, ++at);
	}
	return r;
}

static int insert_view(void *context, const char *name, const char *sql)
{
	sqlite3_stmt *stmt = context;

	sqlite3_bind_text(stmt, 1, name, -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(stmt, 2, sql, (int)strcspn(sql, ";"), SQLITE_STATIC);
	sqlite3_step(stmt);
	return db_errno(sqlite3_reset(stmt));
}

/* Inserts the views into sqlite_schema: each CREATE VIEW would parse all earlier ones again. */
static int insert_views(struct db *db)
{
	sqlite3_stmt *stmt = NULL;
	int r = db_errno(sqlite3_prepare_v2(db->handle, INSERT_VIEW_SQL, -1, &stmt, NULL));

	if (r == 0)
		r = each_view(insert_view, stmt);
	sqlite3_finalize(stmt);
	return r;
}

static int create(struct db *db)
{
	const char *views = strstr(schema_sql, "CREATE VIEW ");
	char *sql = sqlite3_mprintf("PRAGMA application_id = %d; PRAGMA user_version = %d; %.*s"
				    "PRAGMA writable_schema = ON", DB_APPLICATION_ID,
				    DB_SCHEMA_VERSION, (int)(views - schema_sql), schema_sql);
	int r = sql ? db_run(db, sql) : -ENOMEM;

	sqlite3_free(sql);
	if (r == 0)
		r = insert_views(db);
	return r < 0 ? r : db_run(db, "PRAGMA writable_schema = OFF");
}

int schema_create(struct db *db)
{
	int r = db_begin(db);

	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
	if (r == 0)
		r = create(db);
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	if (r < 0) {
		db_rollback(db);
		return r;
	}
	return db_commit(db);
}

/* Makes a view or table of schema.sql. where: "" for the file, "TEMP " for this connection. */
static int make(struct db *db, const char *where, const char *kind, const char *name)
{
	char *sql = sqlite3_mprintf("CREATE %s %s ", kind, name);
	const char *at = sql ? strstr(schema_sql, sql) : NULL;
	int r;

	sqlite3_free(sql);
	if (!at)
		return -ENOMEM;
	at += strlen("CREATE ") + strlen(kind) + 1;
	sql = sqlite3_mprintf("CREATE %s%s IF NOT EXISTS %.*s", where, kind,
			      (int)strcspn(at, ";"), at);
	r = sql ? db_run(db, sql) : -ENOMEM;
	sqlite3_free(sql);
	return r;
}

/* `column` may be a definition, which begins with the column's name. */
static int has_column(struct db *db, const char *table, const char *column, bool *ret)
{
	ROWS *stmt = NULL;
	int r = rows_first(db, &stmt, "SELECT 1 FROM pragma_table_xinfo(?1)"
			   " WHERE name = substr(?2, 1, instr(?2 || ' ', ' ') - 1)", "ss", table,
			   column);

	*ret = r == 1;
	return r < 0 ? r : 0;
}

/* Adds what a table lacks: to the file or, if `is_lent`, for this connection only. */
static int complete(struct db *db, const struct added *added, bool is_lent)
{
	char missing[1024] = "", *sql;
	bool there = true, has_sign = false;
	int r = added->sign ? has_column(db, added->table, added->sign, &has_sign) : 0;

	for (size_t i = 0; r == 0 && i < MOST_ADDED && added->columns[i]; i++) {
		const char *column = added->columns[i];
		const size_t used = strlen(missing);

		r = has_column(db, added->table, column, &there);
		if (r == 0 && !there && is_lent)
			snprintf(missing + used, sizeof(missing) - used, ", NULL AS %.*s",
				 (int)strcspn(column, " "), column);
		else if (r == 0 && !there)
			snprintf(missing + used, sizeof(missing) - used,
				 "ALTER TABLE %s ADD COLUMN %s;", added->table, column);
	}
	if (r < 0 || !*missing)
		return r;
	if (!has_sign)
		return make(db, is_lent ? "TEMP " : "", "TABLE", added->table);
	if (!is_lent)
		return db_run(db, missing);
	sql = sqlite3_mprintf("CREATE TEMP VIEW %s AS SELECT *%s FROM main.%s", added->table,
			      missing, added->table);
	r = sql ? db_run(db, sql) : -ENOMEM;
	sqlite3_free(sql);
	return r;
}

int schema_complete(struct db *db, bool is_lent)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_COUNT(ADDED); i++)
		r = complete(db, &ADDED[i], is_lent);
	return r;
}

/* Makes a view again, since the file may have an older version of it. */
static int replace_view(void *context, const char *name, const char *sql)
{
	char drop[MOST_NAME + 24];
	int r;

	snprintf(drop, sizeof(drop), "DROP VIEW IF EXISTS %s", name);
	r = db_run(context, drop);
	return r < 0 ? r : make(context, "", "VIEW", name);
}

int schema_upgrade(struct db *db, int64_t version)
{
	char version_sql[48];
	int r = db_begin(db);

	if (r < 0)
		return r;
	/* Before version 3 these tables were empty, and had other columns. */
	if (version < 3)
		r = db_run(db, "DROP VIEW IF EXISTS gap; DROP VIEW IF EXISTS gpu_kernel;"
			       "DROP TABLE IF EXISTS t_gap; DROP TABLE IF EXISTS t_gpu_kernel;");
	if (r == 0)
		r = schema_complete(db, false);
	if (r == 0)
		r = each_view(replace_view, db);
	snprintf(version_sql, sizeof(version_sql), "PRAGMA user_version = %d", DB_SCHEMA_VERSION);
	if (r == 0)
		r = db_run(db, version_sql);
	if (r < 0) {
		db_rollback(db);
		return r;
	}
	return db_commit(db);
}

int schema_view(struct db *db, const char *name)
{
	return make(db, "TEMP ", "VIEW", name);
}

struct promises {
	struct db *db;
	int (*view)(const char *name, void *context);
	void *context;
};

static int lend_view(void *context, const char *name, const char *sql)
{
	const struct promises *promises = context;
	int r = schema_view(promises->db, name);

	/* Views whose names begin with t_ are internal, as tables are. */
	if (r < 0 || strncmp(name, "t_", 2) == 0)
		return r;
	return promises->view(name, promises->context);
}

int schema_each_view(struct db *db, int (*view)(const char *name, void *context), void *context)
{
	struct promises promises = {db, view, context};

	return each_view(lend_view, &promises);
}
