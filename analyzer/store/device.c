/* SPDX-License-Identifier: Apache-2.0 */
#include "store/device.h"

#include "store/rows.h"

/* Of floats: means of integers cannot overflow then. */
static const char MEANS_SQL[] =
	"SELECT AVG(MAX(h2d_ns, 0) * 1.0), AVG(MAX(h2d_bytes, 0) * 1.0),"
	" AVG(MAX(gpu_busy_ns, 0) * 1.0), AVG(MAX(gpu_idle_wait_ns, 0) * 1.0)"
	" FROM (SELECT h2d_ns, h2d_bytes, gpu_busy_ns, gpu_idle_wait_ns FROM t_batch"
	" WHERE loader_id = ?1 AND batch IS NOT NULL LIMIT ?2)";

int device_read(struct db *db, int64_t loader_id, int64_t most, struct device_means *ret)
{
	ROWS *stmt = NULL;
	int r = rows_ask(db, &stmt, MEANS_SQL, "nn", loader_id, most);

	if (r == 0)
		r = rows_next(stmt);
	if (r < 0)
		return r;
	*ret = (struct device_means){
		.h2d_ns = rows_int(stmt, 0),
		.h2d_bytes = rows_int(stmt, 1),
		.gpu_busy_ns = rows_int(stmt, 2),
		.gpu_idle_wait_ns = rows_int(stmt, 3),
	};
	return 0;
}
