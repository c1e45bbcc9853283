/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.c - reads what the GPU did, and kernels. Values may have any type or size: see rows.h. */
#include "store/run/gpu.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dlprof/units.h"
#include "store/database/columns.h"
#include "store/database/meta.h"
#include "store/database/rows.h"
#include "store/run/pack.h"

#define ANY_SQL "SELECT 1 FROM t_gpu_step LIMIT 1"

/* The columns of struct gpu_sums, in order. Versions 1 and 2 and imported runs have no rows. */
#define SUMS                                                                                       \
	"SELECT COUNT(busy), SUM(step * 1.0), SUM(busy * 1.0), SUM(data * 1.0),"                   \
	" SUM(MAX(0, h2d) * 1.0), SUM(MAX(0, sync) * 1.0), SUM(MAX(0, host) * 1.0),"               \
	" SUM(MAX(0, other) * 1.0), COUNT(seen),"                                                  \
	" SUM(MAX(0, kernel_count) * 1.0), SUM(MAX(0, graph_count) * 1.0),"                        \
	" SUM(MAX(0, h2d_ns) * 1.0), SUM(MAX(0, h2d_bytes) * 1.0), SUM(MAX(0, pageable) * 1.0),"   \
	" SUM(MAX(0, d2h_ns) * 1.0), SUM(MAX(0, d2h_bytes) * 1.0), SUM(MAX(0, memset_ns) * 1.0),"  \
	" SUM(MAX(0, nccl_ns) * 1.0), SUM(MAX(0, sync_event_ns) * 1.0),"                           \
	" SUM(MAX(0, sync_stream_ns) * 1.0), SUM(MAX(0, sync_context_ns) * 1.0),"                  \
	" SUM(MAX(0, compute) * 1.0), SUM(MAX(0, loading) * 1.0)" GPU_PART_COLUMNS(SUM_OF)         \
	" FROM (SELECT h2d_ns, h2d_bytes, " GPU_PART_COLUMNS(NAME_OF)
#define SUM_OF(column)  ", SUM(MAX(0, " #column ") * 1.0)"
#define NAME_OF(column) #column ", "
#define KNOWN(column)                                                                              \
	"CASE WHEN gpu_busy_ns >= 0 AND step_ns >= 0 AND typeof(gpu_busy_ns) = 'integer'"          \
	" AND typeof(step_ns) = 'integer' THEN " column " END"
#define OF_BATCH KNOWN("gpu_busy_ns") " AS busy, " KNOWN("step_ns") " AS step, "
/* clang-format off */
#define OF_STEP                                                                                    \
	OF_BATCH KNOWN("MAX(0, IFNULL(gap_data_ns, gpu_idle_wait_ns))") " AS data, "               \
	KNOWN("gap_h2d_ns") " AS h2d, " KNOWN("gap_sync_ns") " AS sync, "                          \
	KNOWN("gap_host_ns") " AS host, " KNOWN("gap_other_ns") " AS other,"                       \
	" IFNULL(kernel_count, gpu_busy_ns) AS seen, kernel_count, graph_count,"                   \
	" h2d_pageable_bytes AS pageable, d2h_ns, d2h_bytes, memset_ns, nccl_ns, sync_event_ns,"   \
	" sync_stream_ns, sync_context_ns, " KNOWN("MIN(gpu_compute_ns, gpu_busy_ns)")             \
	" AS compute, " KNOWN("gpu_loading_ns") " AS loading FROM t_batch LEFT JOIN t_gpu_step"    \
	" USING (loader_id, epoch, task)"
/* clang-format on */

static const char *const SUMS_SQL[ROWS_FORMS] = ROWS_JOIN(
	SUMS OF_STEP " LEFT JOIN t_gpu_part USING (loader_id, epoch, task)", ")");
static const char *const STEPS_SQL[ROWS_FORMS] =
	ROWS_JOIN("SELECT step, busy, data, h2d, sync, host, other FROM (SELECT " OF_STEP, ")");

static const char CALLS_ANY_SQL[] = "SELECT 1 FROM t_gpu_call LIMIT 1";
static const char *const CALLS_SQL[ROWS_FORMS] = ROWS_JOIN(
	"SELECT COUNT(seen)" GPU_CALL_COLUMNS(SUM_OF)
	" FROM (SELECT t_gpu_call.*, other_sync_ns AS seen FROM t_batch LEFT JOIN t_gpu_call"
	" USING (loader_id, epoch, task)",
	")");

/* A gap without an end lasts until the last step's end. */
static const char GAP_SQL[] =
	"SELECT COUNT(*), TOTAL(MAX(0, IFNULL(end_ns, (SELECT MAX(begin_ns + step_ns)"
	" FROM t_batch)) - begin_ns) * 1.0) FROM t_gap WHERE begin_ns IS NOT NULL";
static const char WHY_SQL[] =
	"SELECT why FROM t_gap WHERE why IS NOT NULL ORDER BY end_ns IS NULL DESC,"
	" end_ns - begin_ns DESC LIMIT 1";

/* Takes sums from a row, from column `first` on. For a NULL, the old sum stays. */
static void take_sums(sqlite3_stmt *stmt, int first, double *sums, size_t count)
{
	for (int i = 0; i < (int)count; i++)
		if (sqlite3_column_type(stmt, first + i) != SQLITE_NULL)
			sums[i] = sqlite3_column_double(stmt, first + i);
}

static int read_sums(struct db *db, const char *const sql[ROWS_FORMS],
		     const struct batch_filter *filter, double *sums, size_t count)
{
	ROWS *stmt = NULL;
	int r = rows_of_batches(db, sql, filter, &stmt);

	if (r == 0)
		r = rows_next(stmt);
	if (r == 1)
		take_sums(stmt, 0, sums, count);
	return r < 0 ? r : 0;
}

int gpu_sums_count(struct db *db, const struct batch_filter *filter, bool busy_seen,
		   struct gpu_sums *ret_sums)
{
	int r;

	gpu_sums_init(ret_sums);
	if (!busy_seen && !rows_any(db, ANY_SQL)) { /* no GPU: the rows need not be read */
		ret_sums->batch_count = ret_sums->seen_count = 0;
		return 0;
	}
	r = read_sums(db, SUMS_SQL, filter, (double *)(void *)ret_sums, GPU_SUMS_COUNT);
	gpu_sums_check(ret_sums);
	return r;
}

int gpu_calls_read(struct db *db, const struct batch_filter *filter, struct gpu_call_sums *ret_sums)
{
	double *sums = (double *)(void *)ret_sums;
	int r = 0;

	for (size_t i = 0; i < GPU_CALL_SUMS_COUNT; i++)
		sums[i] = NAN;
	/* Databases before version 5 have no rows of calls, nor have runs without level api. */
	if (rows_any(db, CALLS_ANY_SQL))
		r = read_sums(db, CALLS_SQL, filter, sums, GPU_CALL_SUMS_COUNT);
	for (size_t i = 0; i < GPU_CALL_SUMS_COUNT; i++)
		if (!(sums[i] >= 0 && sums[i] < 1e19))
			sums[i] = NAN;
	return r;
}

int gpu_sums_read(struct db *db, const struct batch_filter *filter, bool busy_seen,
		  struct gpu_sums *ret_sums)
{
	struct pack_head head;
	int r = rows_is_whole(filter) ? pack_read_head(db, filter->loader_id, &head) : -ENOENT;

	if (r == 0)
		*ret_sums = head.gpu;
	return r == -ENOENT ? gpu_sums_count(db, filter, busy_seen, ret_sums) : r;
}

static void add_value(double *sum, sqlite3_stmt *stmt, int column)
{
	int64_t value = rows_int(stmt, column);

	if (value != UNKNOWN)
		*sum = (isnan(*sum) ? 0 : *sum) + fmax(0, (double)value);
}

static void add_step(struct gpu_bar *bar, sqlite3_stmt *stmt)
{
	if (sqlite3_column_type(stmt, 0) == SQLITE_NULL)
		return;
	bar->count++;
	add_value(&bar->step_ns, stmt, 0);
	add_value(&bar->busy_ns, stmt, 1);
	for (int gap = 0; gap < GPU_GAP_MAX; gap++)
		add_value(&bar->gap_ns[gap], stmt, 2 + gap);
}

int gpu_bars_read(struct db *db, const struct batch_filter *filter, size_t each,
		  struct gpu_bar *bars, size_t count)
{
	struct gpu_bar none = {.step_ns = NAN, .busy_ns = NAN};
	ROWS *stmt = NULL;
	size_t place = 0, i;
	int gap, r;

	for (gap = 0; gap < GPU_GAP_MAX; gap++)
		none.gap_ns[gap] = NAN;
	for (i = 0; i < count; i++)
		bars[i] = none;
	r = rows_of_batches(db, STEPS_SQL, filter, &stmt);
	while (r >= 0 && place < each * count && (r = rows_next(stmt)) == 1)
		add_step(&bars[place++ / each], stmt);
	for (i = 0; i < count; i++) {
		double seen = (double)bars[i].count;

		bars[i].step_ns /= seen;
		bars[i].busy_ns /= seen;
		for (gap = 0; gap < GPU_GAP_MAX; gap++)
			bars[i].gap_ns[gap] /= seen;
	}
	return r < 0 ? r : 0;
}

#define FIELD(id, type, member) {META_##id, offsetof(struct gpu_info, member)},
static const struct meta_field FIELDS[] = {GPU_FACTS(FIELD)};

static int read_gaps(struct db *db, struct gpu_info *info)
{
	ROWS *gaps = NULL;
	ROWS *why = NULL;
	int r = rows_first(db, &gaps, GAP_SQL, "");

	if (r == 1) {
		info->gap_count = sqlite3_column_int64(gaps, 0);
		info->gap_ns = sqlite3_column_double(gaps, 1);
	}
	if (r >= 0)
		r = rows_first(db, &why, WHY_SQL, "");
	if (r == 1)
		rows_fill(why, 0, REDACT_TEXT, info->gap_why, sizeof(info->gap_why));
	return r < 0 ? r : 0;
}

/* A kernel's name. In a stranger's file, it may have any length. */
static const char NAME_SQL[] = "SELECT substr(name, 1, 65536) FROM t_kernel WHERE id = ?1";

static int read_names(struct db *db, struct gpu_info *info)
{
	int r = 0;

	info->kernel_names = calloc(info->kernels.count + 1, sizeof(*info->kernel_names));
	if (!info->kernel_names)
		return -ENOMEM;
	for (size_t i = 0; r >= 0 && i < info->kernels.count; i++) {
		ROWS *stmt = NULL;

		r = rows_first(db, &stmt, NAME_SQL, "n", info->kernels.items[i].class);
		if (r == 1)
			r = rows_copy(stmt, 0, REDACT_TEXT, &info->kernel_names[i]);
	}
	return r < 0 ? r : 0;
}

const char *gpu_kernel_name(const struct gpu_info *info, size_t kernel)
{
	const char *whole = info->kernel_names ? info->kernel_names[kernel] : NULL;

	return whole ? whole : info->kernels.items[kernel].name;
}

int gpu_info_read(struct db *db, size_t most_kernels, struct gpu_info *ret_info)
{
	int r;

	*ret_info = (struct gpu_info){0};
	r = meta_read(db, ret_info, FIELDS, ARRAY_COUNT(FIELDS));
	ret_info->is_upper_bound = ret_info->upper_bound != UNKNOWN && ret_info->upper_bound;
	if (r == 0)
		r = read_gaps(db, ret_info);
	if (r == 0)
		r = tally_list_read(db, "kernel", most_kernels, &ret_info->kernels);
	return r < 0 ? r : read_names(db, ret_info);
}

void gpu_info_done(struct gpu_info *info)
{
	meta_free(info, FIELDS, ARRAY_COUNT(FIELDS));
	for (size_t i = 0; info->kernel_names && i < info->kernels.count; i++)
		free(info->kernel_names[i]);
	free(info->kernel_names);
	tally_list_done(&info->kernels);
	memset(info, 0, sizeof(*info));
}

/* Means of floats: a sum of integers could overflow. */
static const char MEANS_SQL[] =
	"SELECT AVG(MAX(h2d_ns, 0) * 1.0), AVG(MAX(gpu_busy_ns, 0) * 1.0)"
	" FROM (SELECT h2d_ns, gpu_busy_ns FROM t_batch"
	" WHERE loader_id = ?1 AND batch IS NOT NULL LIMIT ?2)";

int gpu_means_read(struct db *db, int64_t loader_id, int64_t most, struct gpu_means *ret)
{
	ROWS *stmt = NULL;
	int r = rows_first(db, &stmt, MEANS_SQL, "nn", loader_id, most);

	if (r < 0)
		return r;
	*ret = (struct gpu_means){rows_int(stmt, 0), rows_int(stmt, 1)};
	return 0;
}

#define DEVICES_START                                                                              \
	"SELECT device, COUNT(*), TOTAL(fed > 0), TOTAL(MAX(0, step_ns) * 1.0),"                   \
	" SUM(MAX(0, busy_ns) * 1.0), SUM(MAX(0, idle_wait_ns) * 1.0),"                            \
	" SUM(MAX(0, h2d_bytes) * 1.0), SUM(MAX(0, peer_bytes) * 1.0)"                             \
	" FROM (SELECT loader_id, epoch, task, step_ns FROM t_batch"
#define DEVICES_END                                                                                \
	") JOIN t_gpu_device USING (loader_id, epoch, task)"                                       \
	" WHERE typeof(device) = 'integer' GROUP BY device ORDER BY device"

static const char *const DEVICES_SQL[ROWS_FORMS] = ROWS_JOIN(DEVICES_START, DEVICES_END);
static const char DEVICE_NAMES_SQL[] = "SELECT CAST(substr(key, 5) AS INTEGER), value FROM t_meta"
				       " WHERE key >= 'gpu.0' AND key < 'gpu.:' ORDER BY 1";
static const char DEVICES_ANY_SQL[] = "SELECT 1 FROM t_gpu_device LIMIT 1";

static struct gpu_device *add_device(struct gpu_device_list *list, int64_t number)
{
	struct gpu_device *device;

	if (number < 0 || list->count == GPU_DEVICE_MOST ||
	    (list->count && list->items[list->count - 1].number >= number))
		return NULL;
	device = &list->items[list->count++];
	*device = (struct gpu_device){.number = number};
	for (int i = 0; i < GPU_DEVICE_SUMS; i++)
		(&device->batch_count)[i] = NAN;
	return device;
}

static int read_device_sums(struct db *db, const struct batch_filter *filter,
			    struct gpu_device_list *list)
{
	ROWS *stmt = NULL;
	int r = rows_of_batches(db, DEVICES_SQL, filter, &stmt);

	while (r >= 0 && (r = rows_next(stmt)) == 1) {
		struct gpu_device *device = add_device(list, rows_int(stmt, 0));

		if (device)
			take_sums(stmt, 1, &device->batch_count, GPU_DEVICE_SUMS);
	}
	return r;
}

/* Reads the names of the listed devices. If none is listed, lists all devices with a name. */
static int read_device_names(struct db *db, struct gpu_device_list *list)
{
	bool none = list->count == 0;
	ROWS *stmt = NULL;
	int r = rows_prepare(db, DEVICE_NAMES_SQL, &stmt);

	while (r >= 0 && (r = rows_next(stmt)) == 1) {
		int64_t number = rows_int(stmt, 0);
		struct gpu_device *device = none ? add_device(list, number) : NULL;

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
	/* There are no rows if the run used one device, or before version 5. */
	r = rows_any(db, DEVICES_ANY_SQL) ? read_device_sums(db, filter, ret_list) : 0;
	return r < 0 ? r : read_device_names(db, ret_list);
}
