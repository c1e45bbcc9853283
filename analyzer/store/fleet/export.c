/* SPDX-License-Identifier: Apache-2.0 */
#include "store/fleet/export.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

#include "store/database/meta.h"
#include "store/database/rows.h"
#include "store/database/schema.h"

#define MOST_COLUMNS 64

int export_views(struct db *db, int (*view)(const char *name, void *context), void *context)
{
	return schema_each_view(db, view, context);
}

struct search {
	const char *name;
	bool found;
};

static int compare(const char *name, void *context)
{
	struct search *search = context;

	search->found |= strcmp(name, search->name) == 0;
	return 0;
}

static enum redact_kind kind_of(sqlite3_stmt *stmt, const char *view, int i)
{
	const char *key;

	if (strcmp(view, "meta") != 0)
		return redact_kind_of_column(view, sqlite3_column_name(stmt, i));
	key = rows_text(stmt, 0, REDACT_NOT);
	return !i ? REDACT_NOT : key ? meta_redact_kind(key) : REDACT_OTHER;
}

static void take_cell(sqlite3_stmt *stmt, const char *view, int i, struct export_cell *ret)
{
	*ret = (struct export_cell){.type = EXPORT_NULL};
	switch (sqlite3_column_type(stmt, i)) {
	case SQLITE_INTEGER:
		ret->type = EXPORT_INTEGER;
		ret->integer = sqlite3_column_int64(stmt, i);
		break;
	case SQLITE_FLOAT:
		ret->type = EXPORT_REAL;
		ret->real = sqlite3_column_double(stmt, i);
		break;
	case SQLITE_TEXT:
	case SQLITE_BLOB:
		ret->type = EXPORT_TEXT;
		ret->text = rows_text(stmt, i, kind_of(stmt, view, i));
		break;
	}
}

int export_rows(struct sqlite3_stmt *stmt, const char *view, const struct export_sink *sink)
{
	int count = sqlite3_column_count(stmt), r, i;
	struct export_cell cells[MOST_COLUMNS];
	const char *names[MOST_COLUMNS];

	if (count > MOST_COLUMNS)
		return -EBADMSG;
	for (i = 0; i < count; i++)
		names[i] = sqlite3_column_name(stmt, i);
	r = sink->names(names, (size_t)count, sink->context);
	if (r)
		return r;
	while ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
		for (i = 0; i < count; i++)
			take_cell(stmt, view, i, &cells[i]);
		r = sink->row(cells, (size_t)count, sink->context);
		if (r)
			return r;
	}
	return db_errno(r);
}

int export_view(struct db *db, const char *view, const struct export_sink *sink)
{
	ROWS *stmt = NULL;
	struct search search = {.name = view};
	char *sql;
	int r = schema_each_view(db, compare, &search);

	if (r < 0 || !search.found)
		return r < 0 ? r : -ENOENT;
	sql = sqlite3_mprintf("SELECT * FROM \"%w\"", view);
	if (!sql)
		return -ENOMEM;
	r = rows_prepare(db, sql, &stmt);
	sqlite3_free(sql);
	return r < 0 ? r : export_rows(stmt, view, sink);
}
