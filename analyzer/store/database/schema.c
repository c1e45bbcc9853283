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

/* Tables and views that older databases lack, and changed views (t_gap was empty in version 2). */
static const char *const ADDED[] = {
	"TABLE t_mark",    "VIEW mark",        "TABLE t_gap",   "VIEW gap",
	"VIEW gpu_kernel", "TABLE t_gpu_step", "VIEW gpu_step", "TABLE t_gpu_device",
	"VIEW gpu_device", "TABLE t_gpu_call", "VIEW gpu_call", "VIEW loader",
	"VIEW epoch",      "TABLE t_kernel",   "VIEW process",  "TABLE t_frame",
	"TABLE t_stack",   "TABLE t_doing",    "VIEW frame",    "VIEW stack",
	"VIEW doing",      "VIEW batch",       "TABLE t_use",   "TABLE t_thread",
	"TABLE t_made",    "VIEW thread",      "VIEW load",     "VIEW decode",
	"VIEW blocked",    "TABLE t_stage",    "TABLE t_stage_sum",
	"VIEW stage",      "TABLE t_gpu_part", "VIEW gpu_part",
};

static const char VERSION_6_SQL[] =
	"DROP VIEW IF EXISTS loader; DROP VIEW IF EXISTS epoch;"
	"ALTER TABLE t_loader ADD COLUMN place TEXT;"
	"ALTER TABLE t_epoch ADD COLUMN tid INTEGER; ALTER TABLE t_epoch ADD COLUMN nested INTEGER;"
	"ALTER TABLE t_epoch ADD COLUMN stop_begin_ns INTEGER;"
	"ALTER TABLE t_epoch ADD COLUMN stop_ns INTEGER;";

static const char VERSION_7_SQL[] = "ALTER TABLE t_gpu_step ADD COLUMN gpu_compute_ns INTEGER;"
				    "ALTER TABLE t_gpu_step ADD COLUMN gpu_loading_ns INTEGER;";

static const char VERSION_8_SQL[] = "DROP VIEW IF EXISTS process;"
				    "ALTER TABLE t_process ADD COLUMN exit_status INTEGER;";

static const char VERSION_10_SQL[] = "DROP VIEW IF EXISTS batch; DROP VIEW IF EXISTS process;"
				     "DROP VIEW IF EXISTS load; DROP VIEW IF EXISTS decode;"
				     "ALTER TABLE t_batch ADD COLUMN sample_ns INTEGER;"
				     "ALTER TABLE t_batch ADD COLUMN fetch_ns INTEGER;"
				     "ALTER TABLE t_batch ADD COLUMN fetch_cpu_ns INTEGER;"
				     "ALTER TABLE t_batch ADD COLUMN fetch_count INTEGER;"
				     "ALTER TABLE t_batch ADD COLUMN free_ns INTEGER;";

static const char VERSION_12_SQL[] = "DROP VIEW IF EXISTS batch; DROP VIEW IF EXISTS epoch;"
				     "ALTER TABLE t_batch ADD COLUMN before_ns INTEGER;"
				     "ALTER TABLE t_batch ADD COLUMN backward_ns INTEGER;"
				     "ALTER TABLE t_batch ADD COLUMN between_ns INTEGER;"
				     "ALTER TABLE t_batch ADD COLUMN optimizer_ns INTEGER;"
				     "ALTER TABLE t_batch ADD COLUMN save_ns INTEGER;"
				     "ALTER TABLE t_epoch ADD COLUMN save_ns INTEGER;";

static const char VERSION_14_SQL[] = "DROP VIEW IF EXISTS epoch;"
				     "ALTER TABLE t_epoch ADD COLUMN sample_ns INTEGER;";

static const char INSERT_VIEW_SQL[] =
	"INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES"
	" ('view', ?1, ?1, 0, ?2)";

#define NO_PARTS_SQL                                                                               \
	" NULL AS before_ns, NULL AS backward_ns, NULL AS between_ns, NULL AS optimizer_ns,"       \
	" NULL AS save_ns"

/* If a table lacks `column`, readers get the view `lent`; if it also lacks `sign`, no rows. */
static const struct {
	const char *table, *column, *sign, *lent;
} NEWER[] = {
	/* Before version 4, all marks are moments and have no length. */
	{"t_mark", "ns", "text",
	 "CREATE TEMP VIEW t_mark AS SELECT ts_ns, pid, tid, text, NULL AS ns FROM main.t_mark"},
	{"t_gap", "why"},
	{"t_gpu_step", "gpu_loading_ns", "task",
	 "CREATE TEMP VIEW t_gpu_step AS SELECT *, NULL AS gpu_compute_ns, NULL AS gpu_loading_ns"
	 " FROM main.t_gpu_step"},
	{"t_gpu_device", "task"},
	{"t_gpu_call", "task"},
	{"t_gpu_part", "task"},
	{"t_kernel", "symbol"},
	{"t_loader", "place", "loader_id",
	 "CREATE TEMP VIEW t_loader AS SELECT *, NULL AS place, NULL AS lacks_order"
	 " FROM main.t_loader"},
	{"t_loader", "lacks_order", "place",
	 "CREATE TEMP VIEW t_loader AS SELECT *, NULL AS lacks_order FROM main.t_loader"},
	{"t_epoch", "stop_ns", "loader_id",
	 "CREATE TEMP VIEW t_epoch AS SELECT *, NULL AS tid, NULL AS nested,"
	 " NULL AS stop_begin_ns, NULL AS stop_ns, NULL AS save_ns, NULL AS sample_ns"
	 " FROM main.t_epoch"},
	{"t_epoch", "save_ns", "stop_ns",
	 "CREATE TEMP VIEW t_epoch AS SELECT *, NULL AS save_ns, NULL AS sample_ns"
	 " FROM main.t_epoch"},
	{"t_epoch", "sample_ns", "save_ns",
	 "CREATE TEMP VIEW t_epoch AS SELECT *, NULL AS sample_ns FROM main.t_epoch"},
	{"t_frame", "line"},
	{"t_stack", "ns"},
	{"t_doing", "since_ns"},
	{"t_use", "swapped_bytes"},
	{"t_thread", "cpu_ns"},
	{"t_made", "batch_bytes"},
	{"t_made", "object_count", "batch_bytes",
	 "CREATE TEMP VIEW t_made AS SELECT *, NULL AS object_count FROM main.t_made"},
	{"t_stage", "kind"},
	{"t_stage_sum", "ready"},
	{"t_process", "exit_status", "pid",
	 "CREATE TEMP VIEW t_process AS SELECT *, NULL AS exit_status FROM main.t_process"},
	{"t_batch", "free_ns", "task",
	 "CREATE TEMP VIEW t_batch AS SELECT *, NULL AS sample_ns, NULL AS fetch_ns,"
	 " NULL AS fetch_cpu_ns, NULL AS fetch_count, NULL AS free_ns," NO_PARTS_SQL
	 " FROM main.t_batch"},
	{"t_batch", "save_ns", "free_ns",
	 "CREATE TEMP VIEW t_batch AS SELECT *," NO_PARTS_SQL " FROM main.t_batch"},
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

/* Inserts the views into sqlite_schema, because each CREATE VIEW would parse all views again. */
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

/* Makes a view or table of schema.sql, such as "VIEW mark". where: "" (in the file) or "TEMP ". */
static int make(struct db *db, const char *where, const char *what)
{
	const char *at, *end = NULL, *kind = strchr(what, ' ');
	char *sql = sqlite3_mprintf("CREATE %s ", what);
	int r;

	at = sql ? strstr(schema_sql, sql) : NULL;
	sqlite3_free(sql);
	if (at)
		end = strchr(at, ';');
	if (!end)
		return -ENOMEM;
	at += strlen("CREATE ") + (size_t)(kind - what) + 1;
	sql = sqlite3_mprintf("CREATE %s%.*s IF NOT EXISTS %.*s", where, (int)(kind - what), what,
			      (int)(end - at), at);
	r = sql ? db_run(db, sql) : -ENOMEM;
	sqlite3_free(sql);
	return r;
}

int schema_upgrade(struct db *db, int64_t version)
{
	char version_sql[48];
	int r = db_begin(db);

	if (r < 0)
		return r;
	if (version < 3)
		r = db_run(db, "DROP VIEW IF EXISTS gap; DROP VIEW IF EXISTS gpu_kernel;"
				   "DROP TABLE IF EXISTS t_gap;"
				   "DROP TABLE IF EXISTS t_gpu_kernel;");
	if (r == 0 && version > 1 && version < 4)
		r = db_run(db, "DROP VIEW mark; ALTER TABLE t_mark ADD COLUMN ns INTEGER;");
	if (r == 0 && version < 6)
		r = db_run(db, VERSION_6_SQL);
	if (r == 0 && version < 7)
		r = db_run(db, "DROP VIEW IF EXISTS gpu_kernel; DROP VIEW IF EXISTS gpu_step;");
	if (r == 0 && version > 2 && version < 7)
		r = db_run(db, VERSION_7_SQL);
	if (r == 0 && version < 8)
		r = db_run(db, VERSION_8_SQL);
	if (r == 0 && version < 10)
		r = db_run(db, VERSION_10_SQL);
	if (r == 0 && version < 12)
		r = db_run(db, VERSION_12_SQL);
	if (r == 0 && version < 14)
		r = db_run(db, VERSION_14_SQL);
	if (r == 0 && version < 15)
		r = db_run(db, "ALTER TABLE t_loader ADD COLUMN lacks_order INTEGER;");
	if (r == 0 && version >= 10 && version < 16)
		r = db_run(db, "ALTER TABLE t_made ADD COLUMN object_count INTEGER;");
	for (size_t i = 0; r == 0 && i < ARRAY_COUNT(ADDED); i++)
		r = make(db, "", ADDED[i]);
	snprintf(version_sql, sizeof(version_sql), "PRAGMA user_version = %d", DB_SCHEMA_VERSION);
	if (r == 0)
		r = db_run(db, version_sql);
	if (r < 0) {
		db_rollback(db);
		return r;
	}
	return db_commit(db);
}

static int has_column(struct db *db, const char *table, const char *column, bool *ret)
{
	ROWS *stmt = NULL;
	int r = rows_first(db, &stmt, "SELECT 1 FROM pragma_table_xinfo(?1) WHERE name = ?2", "ss",
			   table, column);

	*ret = r == 1;
	return r < 0 ? r : 0;
}

static int lend(struct db *db, size_t which)
{
	char what[MOST_NAME];
	bool is_older = false;
	int r = 0;

	if (NEWER[which].sign)
		r = has_column(db, NEWER[which].table, NEWER[which].sign, &is_older);
	if (r < 0)
		return r;
	if (is_older)
		return db_run(db, NEWER[which].lent);
	snprintf(what, sizeof(what), "TABLE %s", NEWER[which].table);
	return make(db, "TEMP ", what);
}

int schema_lend(struct db *db)
{
	bool there;
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_COUNT(NEWER); i++) {
		r = has_column(db, NEWER[i].table, NEWER[i].column, &there);
		if (r == 0 && !there)
			r = lend(db, i);
	}
	return r;
}

int schema_view(struct db *db, const char *name)
{
	char what[MOST_NAME + 8];

	snprintf(what, sizeof(what), "VIEW %s", name);
	return make(db, "TEMP ", what);
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

	/* Views whose names begin with t_ are internal, like tables. */
	if (r < 0 || strncmp(name, "t_", 2) == 0)
		return r;
	return promises->view(name, promises->context);
}

int schema_each_view(struct db *db, int (*view)(const char *name, void *context), void *context)
{
	struct promises promises = {db, view, context};

	return each_view(lend_view, &promises);
}
