/* SPDX-License-Identifier: Apache-2.0 */
#include "store/rows.h"

static const char BY_TASK_SQL[] =
	"SELECT in_order = 1 OR workers = 0 FROM t_loader WHERE loader_id = ?1";

int rows_prepare(struct db *db, const char *sql, sqlite3_stmt **ret_stmt)
{
	return db_errno(sqlite3_prepare_v2(db_handle(db), sql, -1, ret_stmt, NULL));
}

int rows_next(sqlite3_stmt *stmt)
{
	int r = sqlite3_step(stmt);

	return r == SQLITE_ROW ? 1 : db_errno(r);
}

static int is_by_task(struct db *db, int64_t loader_id, bool *ret)
{
	sqlite3_stmt *stmt = NULL;
	int r = rows_prepare(db, BY_TASK_SQL, &stmt);

	*ret = false;
	if (r == 0)
		r = db_errno(sqlite3_bind_int64(stmt, 1, loader_id));
	if (r == 0)
		r = rows_next(stmt);
	if (r == 1) {
		*ret = rows_int(stmt, 0) == 1;
		r = 0;
	}
	sqlite3_finalize(stmt);
	return r;
}

int rows_of_batches(struct db *db, const char *const sql[2], const struct batch_filter *filter,
		    sqlite3_stmt **ret_stmt)
{
	int64_t first = filter->first > 0 ? filter->first : 0;
	int64_t count = filter->last < 0 ? -1 : filter->last < first ? 0 : filter->last - first + 1;
	const int64_t values[] = {filter->loader_id, filter->epoch, count, first};
	bool by_task;
	int i, r = is_by_task(db, filter->loader_id, &by_task);

	if (r == 0)
		r = rows_prepare(db, sql[by_task], ret_stmt);
	for (i = 0; r == 0 && i < (int)(sizeof(values) / sizeof(*values)); i++)
		r = db_errno(sqlite3_bind_int64(*ret_stmt, i + 1, values[i]));
	return r;
}

bool rows_is_whole(const struct batch_filter *filter)
{
	return filter->epoch < 0 && filter->first <= 0 && filter->last < 0;
}
