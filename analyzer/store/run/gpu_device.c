/* SPDX-License-Identifier: Apache-2.0 */
#include "store/run/gpu_device.h"

#include <math.h>

#include "dlprof/units.h"
#include "store/database/rows.h"

#define SUMS_START                                                                                 \
	"SELECT device, COUNT(*), TOTAL(fed > 0), TOTAL(MAX(0, step_ns) * 1.0),"                   \
	" SUM(MAX(0, busy_ns) * 1.0), SUM(MAX(0, idle_wait_ns) * 1.0),"                            \
	" SUM(MAX(0, h2d_bytes) * 1.0), SUM(MAX(0, peer_bytes) * 1.0)"                             \
	" FROM (SELECT loader_id, epoch, task, step_ns FROM t_batch"
#define SUMS_END                                                                                   \
	") JOIN t_gpu_device USING (loader_id, epoch, task)"                                       \
	" WHERE typeof(device) = 'integer' GROUP BY device ORDER BY device"

static const char *const SUMS_SQL[ROWS_FORMS] = ROWS_JOIN(SUMS_START, SUMS_END);
static const char NAMES_SQL[] = "SELECT CAST(substr(key, 5) AS INTEGER), value FROM t_meta"
				" WHERE key >= 'gpu.0' AND key < 'gpu.:' ORDER BY 1";
static const char ANY_SQL[] = "SELECT 1 FROM t_gpu_device LIMIT 1";

static struct gpu_device *add(struct gpu_device_list *list, int64_t number)
{
	struct gpu_device *device;

	if (number < 0 || list->count == GPU_DEVICE_MOST ||
	    (list->count && list->items[list->count - 1].number >= number))
		return NULL;
	device = &list->items[list->count++];
	*device = (struct gpu_device){.number = number,
				      .batch_count = NAN,
				      .fed_count = NAN,
				      .step_ns = NAN,
				      .busy_ns = NAN,
				      .idle_wait_ns = NAN,
				      .h2d_bytes = NAN,
				      .peer_bytes = NAN};
	return device;
}

static void take_sums(sqlite3_stmt *stmt, struct gpu_device *device)
{
	double *const sums[] = {
		&device->batch_count,  &device->fed_count, &device->step_ns,    &device->busy_ns,
		&device->idle_wait_ns, &device->h2d_bytes, &device->peer_bytes,
	};

	for (int i = 0; i < (int)ARRAY_COUNT(sums); i++)
		if (sqlite3_column_type(stmt, i + 1) != SQLITE_NULL)
			*sums[i] = sqlite3_column_double(stmt, i + 1);
}

static int read_sums(struct db *db, const struct batch_filter *filter, struct gpu_device_list *list)
{
	ROWS *stmt = NULL;
	int r = rows_of_batches(db, SUMS_SQL, filter, &stmt);

	while (r >= 0 && (r = rows_next(stmt)) == 1) {
		struct gpu_device *device = add(list, rows_int(stmt, 0));

		if (device)
			take_sums(stmt, device);
	}
	return r;
}

/* Reads the names of the listed devices; if none is listed, lists all devices that have a name. */
static int read_names(struct db *db, struct gpu_device_list *list)
{
	bool none = list->count == 0;
	ROWS *stmt = NULL;
	int r = rows_prepare(db, NAMES_SQL, &stmt);

	while (r >= 0 && (r = rows_next(stmt)) == 1) {
		int64_t number = rows_int(stmt, 0);
		struct gpu_device *device = none ? add(list, number) : NULL;

		for (size_t i = 0; !none && i < list->count; i++)
			if (list->items[i].number == number)
				device = &list->items[i];
		if (device)
			rows_fill(stmt, 1, REDACT_TEXT, device->name, sizeof(device->name));
	}
	return r;
}

int gpu_device_list_read(struct db *db, const struct batch_filter *filter,
			 struct gpu_device_list *ret_list)
{
	int r;

	ret_list->count = 0;
	/* With one device, or before version 5, there are no rows. */
	r = rows_any(db, ANY_SQL) ? read_sums(db, filter, ret_list) : 0;
	return r < 0 ? r : read_names(db, ret_list);
}
