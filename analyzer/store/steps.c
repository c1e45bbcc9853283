/* SPDX-License-Identifier: Apache-2.0 */
#include "store/steps.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "store/pack.h"

/* How many loaders there are; where there is one, its id. Each is one step in the table's key. */
static const char LOADER_SQL[] =
	"WITH RECURSIVE part(id) AS (SELECT MIN(loader_id) FROM t_batch UNION ALL"
	"  SELECT (SELECT MIN(b.loader_id) FROM t_batch b WHERE b.loader_id > part.id)"
	"  FROM part WHERE part.id IS NOT NULL)"
	"SELECT COUNT(*), MIN(id) FROM part WHERE id IS NOT NULL";

#define STEPS_SQL(order)                                                                           \
	"SELECT wait_ns, compute_ns, epoch, batch, head_ready, gpu_idle_wait_ns FROM t_batch"      \
	" WHERE loader_id = ?1 AND batch IS NOT NULL AND (?2 < 0 OR epoch = ?2)"                   \
	" ORDER BY epoch, " order " LIMIT ?3 OFFSET ?4"

static const char EPOCHS_SQL[] = "SELECT epoch, begin_ns + MAX(IFNULL(setup_ns, 0), 0) FROM t_epoch"
				 " WHERE loader_id = ?1 AND begin_ns >= 0";

static int prepare(struct db *db, const char *sql, int64_t loader_id, sqlite3_stmt **ret_stmt)
{
	int r = sqlite3_prepare_v2(db_handle(db), sql, -1, ret_stmt, NULL);

	if (r == SQLITE_OK && sqlite3_bind_parameter_count(*ret_stmt))
		r = sqlite3_bind_int64(*ret_stmt, 1, loader_id);
	return db_errno(r);
}

/* 1: a row, 0: no more, or -errno. */
static int next_row(sqlite3_stmt *stmt)
{
	int r = sqlite3_step(stmt);

	return r == SQLITE_ROW ? 1 : db_errno(r);
}

static int64_t number(sqlite3_stmt *stmt, int i)
{
	int type = sqlite3_column_type(stmt, i);
	int64_t value =
		type == SQLITE_INTEGER || type == SQLITE_FLOAT ? sqlite3_column_int64(stmt, i) : -1;

	return value < 0 ? SERIES_UNKNOWN : value;
}

static int32_t ordinal(sqlite3_stmt *stmt, int i)
{
	int64_t value = number(stmt, i);

	return value < 0 ? -1 : value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

int steps_find_loader(struct db *db, int64_t *ret_loader_id)
{
	struct loader_info *loaders = NULL;
	sqlite3_stmt *stmt = NULL;
	int64_t count = 0;
	size_t known = 0;
	int r = prepare(db, LOADER_SQL, 0, &stmt);

	*ret_loader_id = -1;
	if (r == 0)
		r = next_row(stmt);
	if (r == 1) {
		count = sqlite3_column_int64(stmt, 0);
		if (count == 1)
			*ret_loader_id = sqlite3_column_int64(stmt, 1);
		r = 0;
	}
	sqlite3_finalize(stmt);
	if (r < 0 || count < 2)
		return r;
	r = query_loaders(db, &loaders, &known);
	if (r == 0 && known)
		*ret_loader_id = loaders[0].loader_id;
	free(loaders);
	return r;
}

static int append(struct batch_series *series, sqlite3_stmt *stmt)
{
	struct batch_row row = BATCH_ROW_UNKNOWN;
	int32_t ready = ordinal(stmt, 4);

	row.wait_ns = number(stmt, 0);
	row.compute_ns = number(stmt, 1);
	row.epoch = ordinal(stmt, 2);
	row.batch = ordinal(stmt, 3);
	row.head_ready = ready < 0 ? -1 : ready > 0;
	row.gpu_idle_ns = number(stmt, 5);
	return series_append(series, &row);
}

static int bind_filter(sqlite3_stmt *stmt, const struct batch_filter *filter)
{
	int64_t first = filter->first > 0 ? filter->first : 0;
	int r = sqlite3_bind_int64(stmt, 2, filter->epoch);

	if (r == SQLITE_OK)
		r = sqlite3_bind_int64(stmt, 3,
				       filter->last < 0       ? -1
				       : filter->last < first ? 0
							      : filter->last - first + 1);
	if (r == SQLITE_OK)
		r = sqlite3_bind_int64(stmt, 4, first);
	return db_errno(r);
}

int steps_read(struct db *db, const struct batch_filter *filter, struct batch_series *series)
{
	const struct batch_filter none = {
		.loader_id = filter->loader_id, .epoch = -1, .first = 1, .last = 0};
	bool is_whole = filter->epoch < 0 && filter->first <= 0 && filter->last < 0, in_order;
	sqlite3_stmt *stmt = NULL;
	/* What is known of the loader and of the run. */
	int r = query_series(db, &none, series);

	if (r == 0 && is_whole) {
		r = pack_read_series(db, filter->loader_id, series);
		if (r != -ENOENT)
			return r;
		r = 0;
	}
	/* In order, batches stand as they were asked for: nothing has to be sorted. */
	in_order = series->in_order == 1 || series->workers == 0;
	if (r == 0)
		r = prepare(db, in_order ? STEPS_SQL("task") : STEPS_SQL("batch"),
			    filter->loader_id, &stmt);
	if (r == 0)
		r = bind_filter(stmt, filter);
	while (r == 0 && (r = next_row(stmt)) == 1)
		r = append(series, stmt);
	sqlite3_finalize(stmt);
	return r;
}

int steps_read_epochs(struct db *db, int64_t loader_id, int64_t offset_ns,
		      struct rank_epoch **ret_epochs, size_t *ret_count)
{
	struct rank_epoch *epochs = NULL, *grown;
	sqlite3_stmt *stmt = NULL;
	size_t count = 0;
	int r = prepare(db, EPOCHS_SQL, loader_id, &stmt);

	while (r == 0 && (r = next_row(stmt)) == 1) {
		struct rank_epoch epoch = {.epoch = ordinal(stmt, 0)};

		r = 0;
		if (__builtin_add_overflow(number(stmt, 1), offset_ns, &epoch.begin_ns))
			continue;
		grown = reallocarray(epochs, count + 1, sizeof(*grown));
		if (!grown) {
			r = -ENOMEM;
			break;
		}
		epochs = grown;
		epochs[count++] = epoch;
	}
	sqlite3_finalize(stmt);
	if (r < 0) {
		free(epochs);
		return r;
	}
	*ret_epochs = epochs;
	*ret_count = count;
	return 0;
}
