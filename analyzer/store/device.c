/* SPDX-License-Identifier: Apache-2.0 */
#include "store/device.h"

#include <sqlite3.h>

#include "store/handle.h"
#include "store/query.h"

/* Of floats: means of integers cannot overflow then. */
static const char MEANS_SQL[] =
	"SELECT AVG(MAX(h2d_ns, 0) * 1.0), AVG(MAX(h2d_bytes, 0) * 1.0),"
	" AVG(MAX(gpu_busy_ns, 0) * 1.0), AVG(MAX(gpu_idle_wait_ns, 0) * 1.0)"
	" FROM (SELECT h2d_ns, h2d_bytes, gpu_busy_ns, gpu_idle_wait_ns FROM t_batch"
	" WHERE loader_id = ?1 AND batch IS NOT NULL LIMIT ?2)";

static int64_t mean(sqlite3_stmt *stmt, int column)
{
	if (sqlite3_column_type(stmt, column) == SQLITE_NULL)
		return QUERY_UNKNOWN;
	return sqlite3_column_int64(stmt, column);
}

int device_read(struct db *db, int64_t loader_id, int64_t most, struct device_means *ret)
{
	sqlite3_stmt *stmt;
	int r;

	*ret = (struct device_means){QUERY_UNKNOWN, QUERY_UNKNOWN, QUERY_UNKNOWN, QUERY_UNKNOWN};
	r = sqlite3_prepare_v2(db->handle, MEANS_SQL, -1, &stmt, NULL);
	if (r != SQLITE_OK)
		return db_errno(r);
	sqlite3_bind_int64(stmt, 1, loader_id);
	sqlite3_bind_int64(stmt, 2, most);
	r = sqlite3_step(stmt);
	if (r == SQLITE_ROW)
		*ret = (struct device_means){
			.h2d_ns = mean(stmt, 0),
			.h2d_bytes = mean(stmt, 1),
			.gpu_busy_ns = mean(stmt, 2),
			.gpu_idle_wait_ns = mean(stmt, 3),
		};
	sqlite3_finalize(stmt);
	return db_errno(r);
}
