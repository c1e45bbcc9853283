/* SPDX-License-Identifier: Apache-2.0 */
#include "store/run/steps.h"

#include <errno.h>
#include <stdlib.h>

#include "store/database/rows.h"
#include "store/run/query.h"

static const char LOADER_SQL[] = ROWS_LOADERS "SELECT COUNT(loader_id), MIN(loader_id) FROM part";

static const char EPOCHS_SQL[] = "SELECT epoch, begin_ns + MAX(IFNULL(setup_ns, 0), 0) FROM t_epoch"
				 " WHERE loader_id = ?1 AND begin_ns >= 0 ORDER BY epoch";

int steps_list_loaders(struct db *db, struct loader_info **ret_loaders, size_t *ret_count)
{
	struct loader_info only = {.pid = UNKNOWN, .tid = UNKNOWN};
	ROWS *stmt = NULL;
	int64_t count;
	int r = rows_first(db, &stmt, LOADER_SQL, "");

	*ret_loaders = NULL;
	*ret_count = 0;
	if (r < 0)
		return r;
	count = sqlite3_column_int64(stmt, 0);
	only.loader_id = sqlite3_column_int64(stmt, 1);
	if (!count)
		return 0;
	if (count > 1)
		return query_loaders(db, ret_loaders, ret_count);
	*ret_loaders = malloc(sizeof(only));
	if (!*ret_loaders)
		return -ENOMEM;
	**ret_loaders = only;
	*ret_count = 1;
	return 0;
}

static int take_epoch(sqlite3_stmt *stmt, void *item)
{
	struct rank_epoch *epoch = item;

	epoch->epoch = rows_small(stmt, 0);
	epoch->begin_ns = rows_time(stmt, 1);
	return 1;
}

int steps_read_epochs(struct db *db, int64_t loader_id, int64_t offset_ns,
		      struct rank_epoch **ret_epochs, size_t *ret_count)
{
	int r = rows_list(db, EPOCHS_SQL, loader_id, sizeof(**ret_epochs), take_epoch, ret_epochs,
			  ret_count);
	size_t kept = 0;

	for (size_t i = 0; i < *ret_count; i++) {
		struct rank_epoch *to = &(*ret_epochs)[kept], *from = &(*ret_epochs)[i];

		to->epoch = from->epoch;
		kept += !__builtin_add_overflow(from->begin_ns, offset_ns, &to->begin_ns);
	}
	*ret_count = kept;
	return r;
}
