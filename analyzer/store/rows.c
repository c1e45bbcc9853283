/* SPDX-License-Identifier: Apache-2.0 */
#include "store/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/clamp.h"
#include "dlprof/units.h"
#include "store/guard.h"

static const char BY_TASK_SQL[] =
	"SELECT in_order = 1 OR workers = 0 FROM t_loader WHERE loader_id = ?1";

int rows_prepare(struct db *db, const char *sql, sqlite3_stmt **ret_stmt)
{
	if (guard_is_spent(db))
		return db_errno(SQLITE_INTERRUPT);
	return db_errno(sqlite3_prepare_v2(db->handle, sql, -1, ret_stmt, NULL));
}

int rows_next(sqlite3_stmt *stmt)
{
	int r = sqlite3_step(stmt);

	return r == SQLITE_ROW ? 1 : db_errno(r);
}

int rows_ask(struct db *db, const char *sql, int64_t value, sqlite3_stmt **ret_stmt)
{
	int r = rows_prepare(db, sql, ret_stmt);

	if (r == 0)
		r = db_errno(sqlite3_bind_int64(*ret_stmt, 1, value));
	return r < 0 ? r : rows_next(*ret_stmt);
}

int rows_copy(sqlite3_stmt *stmt, int i, enum redact_kind kind, char **ret_text)
{
	const char *text = rows_text(stmt, i, kind);
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		return -ENOMEM;
	free(*ret_text);
	*ret_text = copy;
	return 0;
}

static int is_by_task(struct db *db, int64_t loader_id, bool *ret)
{
	sqlite3_stmt *stmt = NULL;
	int r = rows_ask(db, BY_TASK_SQL, loader_id, &stmt);

	*ret = r == 1 && rows_int(stmt, 0) == 1;
	sqlite3_finalize(stmt);
	return r < 0 ? r : 0;
}

int rows_of_batches(struct db *db, const char *const sql[2], const struct batch_filter *filter,
		    sqlite3_stmt **ret_stmt)
{
	int64_t first = filter->first > 0 ? filter->first : 0;
	int64_t count = filter->last < 0       ? -1
			: filter->last < first ? 0
					       : clamp_add(filter->last - first, 1);
	int64_t low = filter->epoch < 0 ? INT64_MIN : filter->epoch;
	int64_t high = filter->epoch < 0 ? INT64_MAX : filter->epoch;
	const int64_t values[] = {filter->loader_id, low, high, count, first};
	bool by_task;
	int i, r = is_by_task(db, filter->loader_id, &by_task);

	if (r == 0)
		r = rows_prepare(db, sql[by_task], ret_stmt);
	for (i = 0; r == 0 && i < (int)ARRAY_COUNT(values); i++)
		r = db_errno(sqlite3_bind_int64(*ret_stmt, i + 1, values[i]));
	return r;
}

bool rows_is_whole(const struct batch_filter *filter)
{
	return filter->epoch < 0 && filter->first <= 0 && filter->last < 0;
}
