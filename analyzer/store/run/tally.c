/* SPDX-License-Identifier: Apache-2.0 */
#include "store/run/tally.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "store/database/rows.h"
#include "store/database/schema.h"

/* Casts values: a file may have any types. Sorts by the time that surely belongs to the name. */
static const char LIST_SQL[] =
	"SELECT name, detail, CAST(class AS INTEGER), CAST(count AS INTEGER), CAST(ns AS INTEGER),"
	" CAST(bytes AS INTEGER), CAST(pixels AS INTEGER), CAST(slowest_ns AS INTEGER),"
	" CAST(error_ns AS INTEGER), COUNT(*) OVER () FROM t_tally WHERE kind = ?1"
	" ORDER BY ns - error_ns DESC, name, detail, class LIMIT ?2";

static const char UNLISTED_SQL[] = "SELECT ns FROM t_unlisted WHERE kind = ?1";

/* Lists slow opens, reads and waits. Decoding is always slow, and is reported elsewhere. */
static const char SLOW_SQL[] = "SELECT what, CAST(ns AS INTEGER), stack FROM t_slow WHERE class IN "
			       "('open', 'read', 'wait')"
			       " ORDER BY ns DESC, ts_ns LIMIT ?1";

static int64_t amount(sqlite3_stmt *stmt, int column)
{
	int64_t value = sqlite3_column_int64(stmt, column);

	return value < 0 ? 0 : value;
}

static enum redact_kind kind_of_name(const char *kind)
{
	if (strcmp(kind, "folder") == 0)
		return REDACT_FOLDER;
	if (strcmp(kind, "wait") == 0)
		return REDACT_PEER;
	return strcmp(kind, "file") == 0 || strcmp(kind, "sample") == 0 ? REDACT_FILE : REDACT_TEXT;
}

int tally_list_read(struct db *db, const char *kind, size_t most, struct tally_list *ret_list)
{
	ROWS *stmt = NULL;
	int r;

	*ret_list = (struct tally_list){.items = calloc(most, sizeof(struct tally))};
	if (!ret_list->items)
		return -ENOMEM;
	r = schema_view(db, "t_tally");
	if (r == 0)
		r = rows_ask(db, &stmt, LIST_SQL, "sn", kind, (int64_t)most);
	while (r >= 0 && ret_list->count < most && (r = rows_next(stmt)) == 1) {
		struct tally *tally = &ret_list->items[ret_list->count++];

		rows_fill(stmt, 0, kind_of_name(kind), tally->name, sizeof(tally->name));
		rows_fill(stmt, 1, REDACT_TEXT, tally->detail, sizeof(tally->detail));
		tally->class = amount(stmt, 2);
		tally->count = amount(stmt, 3);
		tally->ns = amount(stmt, 4);
		tally->bytes = amount(stmt, 5);
		tally->pixels = amount(stmt, 6);
		tally->slowest_ns = amount(stmt, 7);
		tally->error_ns = amount(stmt, 8);
		ret_list->all_count = (size_t)amount(stmt, 9);
	}
	return r < 0 ? r : 0;
}

void tally_list_done(struct tally_list *list)
{
	free(list->items);
	*list = (struct tally_list){0};
}

int tally_unlisted_read(struct db *db, const char *kind, int64_t *ret_ns)
{
	ROWS *stmt = NULL;
	int r = rows_first(db, &stmt, UNLISTED_SQL, "s", kind);

	*ret_ns = r == 1 ? amount(stmt, 0) : 0;
	return r < 0 ? r : 0;
}

static int take_call(sqlite3_stmt *stmt, void *item)
{
	struct slow_call *call = item;

	rows_fill(stmt, 0, REDACT_CALL, call->what, sizeof(call->what));
	call->ns = amount(stmt, 1);
	rows_fill(stmt, 2, REDACT_TEXT, call->stack, sizeof(call->stack));
	return 1;
}

int slow_calls_read(struct db *db, size_t most, struct slow_call **ret_calls, size_t *ret_count)
{
	return rows_list(db, SLOW_SQL, (int64_t)most, sizeof(**ret_calls), take_call, ret_calls,
			 ret_count);
}
