/* SPDX-License-Identifier: Apache-2.0 */
#include "store/steps.h"

#include <errno.h>
#include <stdlib.h>

#include "store/pack.h"
#include "store/rows.h"

/* How many loaders there are; where there is one, its id. Each is one step in the table's key. */
static const char LOADER_SQL[] =
	"WITH RECURSIVE part(id) AS (SELECT MIN(loader_id) FROM t_batch UNION ALL"
	"  SELECT (SELECT MIN(b.loader_id) FROM t_batch b WHERE b.loader_id > part.id)"
	"  FROM part WHERE part.id IS NOT NULL)"
	"SELECT COUNT(*), MIN(id) FROM part WHERE id IS NOT NULL";

static const char *const STEPS_SQL[2] =
	ROWS_ORDERS("SELECT wait_ns, compute_ns, epoch, batch, head_ready, gpu_idle_wait_ns"
		    " FROM t_batch",
		    "");

static const char EPOCHS_SQL[] = "SELECT epoch, begin_ns + MAX(IFNULL(setup_ns, 0), 0) FROM t_epoch"
				 " WHERE loader_id = ?1 AND begin_ns >= 0";

int steps_find_loader(struct db *db, int64_t *ret_loader_id)
{
	struct loader_info *loaders = NULL;
	sqlite3_stmt *stmt = NULL;
	int64_t count = 0;
	size_t known = 0;
	int r = rows_prepare(db, LOADER_SQL, &stmt);

	*ret_loader_id = -1;
	if (r == 0)
		r = rows_next(stmt);
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
	int32_t ready = rows_small(stmt, 4);

	row.wait_ns = rows_time(stmt, 0);
	row.compute_ns = rows_time(stmt, 1);
	row.epoch = rows_small(stmt, 2);
	row.batch = rows_small(stmt, 3);
	row.head_ready = ready < 0 ? -1 : ready > 0;
	row.gpu_idle_ns = rows_time(stmt, 5);
	return series_append(series, &row);
}

int steps_read(struct db *db, const struct batch_filter *filter, struct batch_series *series)
{
	const struct batch_filter none = {
		.loader_id = filter->loader_id, .epoch = -1, .first = 1, .last = 0};
	sqlite3_stmt *stmt = NULL;
	/* What is known of the loader and of the run. */
	int r = query_series(db, &none, series);

	if (r == 0 && rows_is_whole(filter)) {
		r = pack_read_series(db, filter->loader_id, series);
		if (r != -ENOENT)
			return r;
		r = 0;
	}
	if (r == 0)
		r = rows_of_batches(db, STEPS_SQL, filter, &stmt);
	while (r == 0 && (r = rows_next(stmt)) == 1)
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
	int r = rows_prepare(db, EPOCHS_SQL, &stmt);

	if (r == 0)
		r = db_errno(sqlite3_bind_int64(stmt, 1, loader_id));
	while (r == 0 && (r = rows_next(stmt)) == 1) {
		struct rank_epoch epoch = {.epoch = rows_small(stmt, 0)};

		r = 0;
		if (__builtin_add_overflow(rows_time(stmt, 1), offset_ns, &epoch.begin_ns))
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
