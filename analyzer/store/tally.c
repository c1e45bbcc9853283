/* SPDX-License-Identifier: Apache-2.0 */
#include "store/tally.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/pack.h"
#include "store/rows.h"
#include "store/schema.h"

/* CAST: what a file holds is not believed. Files are ranked by what is certain of them. */
static const char LIST_SQL[] =
	"SELECT name, detail, CAST(class AS INTEGER), CAST(count AS INTEGER), CAST(ns AS INTEGER),"
	" CAST(bytes AS INTEGER), CAST(pixels AS INTEGER), CAST(slowest_ns AS INTEGER),"
	" CAST(error_ns AS INTEGER), COUNT(*) OVER () FROM t_tally WHERE kind = ?1"
	" ORDER BY ns - error_ns DESC, name, detail, class LIMIT ?2";

static const char UNLISTED_SQL[] = "SELECT ns FROM t_unlisted WHERE kind = ?1";

static const char LOADS_SQL[] =
	"SELECT COUNT(load_ns), CAST(TOTAL(load_ns) AS INTEGER), CAST(TOTAL(open_ns) AS INTEGER),"
	" CAST(TOTAL(read_ns) AS INTEGER), CAST(TOTAL(collate_ns) AS INTEGER) FROM t_batch"
	" WHERE load_ns IS NOT NULL";

/* What computes is slow by nature and listed elsewhere. */
static const char SLOW_SQL[] = "SELECT what, CAST(ns AS INTEGER), stack FROM t_slow WHERE class IN "
			       "('open', 'read', 'wait')"
			       " ORDER BY ns DESC, ts_ns LIMIT ?1";

static void copy_text(sqlite3_stmt *stmt, int column, enum redact_kind kind, char *field,
		      size_t size)
{
	const char *text = rows_text(stmt, column, kind);

	snprintf(field, size, "%s", text ? text : "");
}

static int64_t amount(sqlite3_stmt *stmt, int column)
{
	int64_t value = sqlite3_column_int64(stmt, column);

	return value < 0 ? 0 : value;
}

static enum redact_kind kind_of_name(const char *kind)
{
	if (strcmp(kind, "folder") == 0)
		return REDACT_FOLDER;
	return strcmp(kind, "file") == 0 || strcmp(kind, "sample") == 0 ? REDACT_FILE : REDACT_TEXT;
}

static void take_row(sqlite3_stmt *stmt, const char *kind, struct tally *tally)
{
	copy_text(stmt, 0, kind_of_name(kind), tally->name, sizeof(tally->name));
	copy_text(stmt, 1, REDACT_TEXT, tally->detail, sizeof(tally->detail));
	tally->class = amount(stmt, 2);
	tally->count = amount(stmt, 3);
	tally->ns = amount(stmt, 4);
	tally->bytes = amount(stmt, 5);
	tally->pixels = amount(stmt, 6);
	tally->slowest_ns = amount(stmt, 7);
	tally->error_ns = amount(stmt, 8);
}

int tally_list_read(struct db *db, const char *kind, size_t most, struct tally_list *ret_list)
{
	sqlite3_stmt *stmt;
	int r;

	*ret_list = (struct tally_list){.items = calloc(most, sizeof(struct tally))};
	if (!ret_list->items)
		return -ENOMEM;
	r = schema_view(db, "t_tally");
	if (r < 0)
		return r;
	r = sqlite3_prepare_v2(db->handle, LIST_SQL, -1, &stmt, NULL);
	if (r != SQLITE_OK)
		return db_errno(r);
	sqlite3_bind_text(stmt, 1, kind, -1, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 2, (sqlite3_int64)most);
	while ((r = sqlite3_step(stmt)) == SQLITE_ROW && ret_list->count < most) {
		take_row(stmt, kind, &ret_list->items[ret_list->count++]);
		ret_list->all_count = (size_t)amount(stmt, 9);
	}
	sqlite3_finalize(stmt);
	return db_errno(r);
}

void tally_list_done(struct tally_list *list)
{
	free(list->items);
	*list = (struct tally_list){0};
}

int tally_unlisted_read(struct db *db, const char *kind, int64_t *ret_ns)
{
	sqlite3_stmt *stmt;
	int r;

	*ret_ns = 0;
	r = sqlite3_prepare_v2(db->handle, UNLISTED_SQL, -1, &stmt, NULL);
	if (r != SQLITE_OK)
		return db_errno(r);
	sqlite3_bind_text(stmt, 1, kind, -1, SQLITE_STATIC);
	r = sqlite3_step(stmt);
	if (r == SQLITE_ROW)
		*ret_ns = amount(stmt, 0);
	sqlite3_finalize(stmt);
	return db_errno(r);
}

int tally_loads_read(struct db *db, struct tally_loads *ret_loads)
{
	struct load_totals totals;
	sqlite3_stmt *stmt;
	int r;

	*ret_loads = (struct tally_loads){0};
	if (pack_sum_totals(db, &totals) == 0) {
		*ret_loads = (struct tally_loads){
			.count = totals.load_count,
			.load_ns = totals.load_ns,
			.open_ns = totals.open_ns,
			.read_ns = totals.read_ns,
			.collate_ns = totals.collate_ns,
		};
		return 0;
	}
	r = sqlite3_prepare_v2(db->handle, LOADS_SQL, -1, &stmt, NULL);
	if (r != SQLITE_OK)
		return db_errno(r);
	r = sqlite3_step(stmt);
	if (r == SQLITE_ROW)
		*ret_loads = (struct tally_loads){
			.count = amount(stmt, 0),
			.load_ns = amount(stmt, 1),
			.open_ns = amount(stmt, 2),
			.read_ns = amount(stmt, 3),
			.collate_ns = amount(stmt, 4),
		};
	sqlite3_finalize(stmt);
	return db_errno(r);
}

int slow_calls_read(struct db *db, size_t most, struct slow_call **ret_calls, size_t *ret_count)
{
	sqlite3_stmt *stmt;
	int r;

	*ret_count = 0;
	*ret_calls = calloc(most, sizeof(**ret_calls));
	if (!*ret_calls)
		return -ENOMEM;
	r = sqlite3_prepare_v2(db->handle, SLOW_SQL, -1, &stmt, NULL);
	if (r != SQLITE_OK)
		return db_errno(r);
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)most);
	while ((r = sqlite3_step(stmt)) == SQLITE_ROW && *ret_count < most) {
		struct slow_call *call = &(*ret_calls)[(*ret_count)++];

		copy_text(stmt, 0, REDACT_CALL, call->what, sizeof(call->what));
		call->ns = amount(stmt, 1);
		copy_text(stmt, 2, REDACT_TEXT, call->stack, sizeof(call->stack));
	}
	sqlite3_finalize(stmt);
	return db_errno(r);
}
