/* SPDX-License-Identifier: Apache-2.0 */
#include "store/steps.h"

#include <errno.h>
#include <stdlib.h>

#include "store/query.h"
#include "store/rows.h"

/* How many loaders there are; where there is one, its id. Each is one step in the table's key. */
static const char LOADER_SQL[] =
	"WITH RECURSIVE part(id) AS (SELECT MIN(loader_id) FROM t_batch UNION ALL"
	"  SELECT (SELECT MIN(b.loader_id) FROM t_batch b WHERE b.loader_id > part.id)"
	"  FROM part WHERE part.id IS NOT NULL)"
	"SELECT COUNT(*), MIN(id) FROM part WHERE id IS NOT NULL";

static const char EPOCHS_SQL[] = "SELECT epoch, begin_ns + MAX(IFNULL(setup_ns, 0), 0) FROM t_epoch"
				 " WHERE loader_id = ?1 AND begin_ns >= 0";

int steps_list_loaders(struct db *db, struct loader_info **ret_loaders, size_t *ret_count)
{
	struct loader_info only = {.pid = QUERY_UNKNOWN, .tid = QUERY_UNKNOWN};
	sqlite3_stmt *stmt = NULL;
	int64_t count = 0;
	int r = rows_prepare(db, LOADER_SQL, &stmt);

	*ret_loaders = NULL;
	*ret_count = 0;
	if (r == 0)
		r = rows_next(stmt);
	if (r == 1) {
		count = sqlite3_column_int64(stmt, 0);
		only.loader_id = sqlite3_column_int64(stmt, 1);
		r = 0;
	}
	sqlite3_finalize(stmt);
	if (r < 0 || !count)
		return r;
	if (count > 1)
		return query_loaders(db, ret_loaders, ret_count);
	*ret_loaders = malloc(sizeof(only));
	if (!*ret_loaders)
		return -ENOMEM;
	**ret_loaders = only;
	*ret_count = 1;
	return 0;
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
