/* SPDX-License-Identifier: Apache-2.0 */
#include "store/batch.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>

#include "store/pack.h"
#include "store/rows.h"

/* In the order of FIELDS. */
static const char *const BATCHES_SQL[2] = ROWS_ORDERS(
	"SELECT loader_id, epoch, batch, begin_ns, wait_ns, receive_ns, step_ns, compute_ns,"
	" worker_id, load_begin_ns, load_ns, ready_ns, head_ready, qdepth, hol_ns, collate_ns,"
	" transfer_ns,"
	" cpu_ns, samples, open_count, open_ns, read_count, read_bytes, read_ns, storage_bytes,"
	" decode_count, decode_ns,"
	" MAX(0, load_ns - IFNULL(open_ns, 0) - IFNULL(read_ns, 0) - IFNULL(decode_ns, 0)"
	"  - IFNULL(collate_ns, 0)), gpu_busy_ns, gpu_idle_wait_ns, h2d_ns, h2d_bytes FROM t_batch",
	"");

/*
 * In the order of TOTALS. SUM of floats: it stays NULL where nothing was observed, and cannot
 * overflow.
 */
static const char *const TOTALS_SQL[2] = ROWS_ORDERS(
	"SELECT COUNT(load_ns), COUNT(decode_ns), SUM(load_ns * 1.0), SUM(open_ns * 1.0),"
	" SUM(read_ns * 1.0), SUM(decode_ns * 1.0), SUM(collate_ns * 1.0),"
	" SUM(MAX(0, load_ns - IFNULL(open_ns, 0) - IFNULL(read_ns, 0) - IFNULL(decode_ns, 0)"
	"  - IFNULL(collate_ns, 0)) * 1.0),"
	" SUM(cpu_ns * 1.0), SUM(transfer_ns * 1.0), SUM(ready_ns * 1.0), SUM(receive_ns * 1.0),"
	" SUM(hol_ns * 1.0), SUM(open_count * 1.0), SUM(read_count * 1.0), SUM(read_bytes * 1.0),"
	" SUM(storage_bytes * 1.0), SUM(samples * 1.0), SUM(blocked_ns * 1.0)"
	" FROM (SELECT load_ns, open_ns, read_ns, decode_ns, collate_ns, cpu_ns, transfer_ns,"
	" ready_ns, receive_ns, hol_ns, open_count, read_count, read_bytes, storage_bytes, samples,"
	" blocked_ns FROM t_batch",
	")");

/* Of the first loads: enough to tell one worker from another. */
static const char *const READS_SQL[2] = ROWS_ORDERS(
	"SELECT worker_id, COUNT(read_bytes), SUM(read_bytes * 1.0)"
	" FROM (SELECT * FROM (SELECT worker_id, read_bytes FROM t_batch",
	") LIMIT 65536) GROUP BY worker_id");

/* Where each column of BATCHES_SQL goes. */
#define FIELD(name) offsetof(struct batch_record, name)
static const size_t FIELDS[] = {
	FIELD(loader_id),     FIELD(epoch),        FIELD(batch),
	FIELD(begin_ns),      FIELD(wait_ns),      FIELD(receive_ns),
	FIELD(step_ns),       FIELD(compute_ns),   FIELD(worker_id),
	FIELD(load_begin_ns), FIELD(load_ns),      FIELD(ready_ns),
	FIELD(head_ready),    FIELD(qdepth),       FIELD(hol_ns),
	FIELD(collate_ns),    FIELD(transfer_ns),  FIELD(cpu_ns),
	FIELD(samples),       FIELD(open_count),   FIELD(open_ns),
	FIELD(read_count),    FIELD(read_bytes),   FIELD(read_ns),
	FIELD(storage_bytes), FIELD(decode_count), FIELD(decode_ns),
	FIELD(other_ns),      FIELD(gpu_busy_ns),  FIELD(gpu_idle_wait_ns),
	FIELD(h2d_ns),        FIELD(h2d_bytes),
};

/* Likewise of TOTALS_SQL. */
#define TOTAL(name) offsetof(struct load_totals, name)
static const size_t TOTALS[] = {
	TOTAL(load_count),    TOTAL(decode_seen_count), TOTAL(load_ns),    TOTAL(open_ns),
	TOTAL(read_ns),       TOTAL(decode_ns),         TOTAL(collate_ns), TOTAL(other_ns),
	TOTAL(cpu_ns),        TOTAL(transfer_ns),       TOTAL(queue_ns),   TOTAL(receive_ns),
	TOTAL(hol_ns),        TOTAL(open_count),        TOTAL(read_count), TOTAL(read_bytes),
	TOTAL(storage_bytes), TOTAL(samples),           TOTAL(blocked_ns),
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
_Static_assert(COUNT(FIELDS) * sizeof(int64_t) == sizeof(struct batch_record), "all fields");
_Static_assert(COUNT(TOTALS) * sizeof(int64_t) == sizeof(struct load_totals), "all totals");

static void take_row(sqlite3_stmt *stmt, const size_t *offsets, size_t count, void *ret)
{
	size_t i;

	for (i = 0; i < count; i++)
		*(int64_t *)((char *)ret + offsets[i]) = rows_time(stmt, (int)i);
}

int batch_each(struct db *db, const struct batch_filter *filter,
	       int (*row)(const struct batch_record *record, void *context), void *context)
{
	struct batch_record record;
	sqlite3_stmt *stmt = NULL;
	int r;

	r = rows_of_batches(db, BATCHES_SQL, filter, &stmt);
	while (r == 0 && (r = rows_next(stmt)) == 1) {
		take_row(stmt, FIELDS, COUNT(FIELDS), &record);
		r = row(&record, context);
	}
	sqlite3_finalize(stmt);
	return r;
}

int batch_totals(struct db *db, const struct batch_filter *filter, struct load_totals *ret_totals)
{
	sqlite3_stmt *stmt = NULL;
	int r;

	if (rows_is_whole(filter)) {
		r = pack_read_totals(db, filter->loader_id, ret_totals);
		if (r != -ENOENT)
			return r;
	}
	r = rows_of_batches(db, TOTALS_SQL, filter, &stmt);
	if (r == 0)
		r = rows_next(stmt);
	if (r == 1) {
		take_row(stmt, TOTALS, COUNT(TOTALS), ret_totals);
		r = 0;
	}
	sqlite3_finalize(stmt);
	return r;
}

int batch_reads(struct db *db, const struct batch_filter *filter, size_t workers,
		double *ret_loads, double *ret_bytes)
{
	sqlite3_stmt *stmt = NULL;
	int r = rows_of_batches(db, READS_SQL, filter, &stmt);

	while (r == 0 && (r = rows_next(stmt)) == 1) {
		int64_t worker = rows_time(stmt, 0), bytes = rows_time(stmt, 2);

		r = 0;
		if (worker < 0 || (size_t)worker >= workers || bytes < 0)
			continue;
		ret_loads[worker] = (double)rows_time(stmt, 1);
		ret_bytes[worker] = (double)bytes;
	}
	sqlite3_finalize(stmt);
	return r;
}

void batch_totals_init(struct load_totals *totals)
{
	size_t i;

	for (i = 0; i < COUNT(TOTALS); i++)
		*(int64_t *)((char *)totals + TOTALS[i]) = QUERY_UNKNOWN;
	totals->load_count = totals->decode_seen_count = 0;
}

/* What both structs call the same. */
#define LOAD_TIMES(of)                                                                             \
	.load_ns = query_known((of)->load_ns), .cpu_ns = query_known((of)->cpu_ns),                \
	.open_ns = query_known((of)->open_ns), .read_ns = query_known((of)->read_ns),              \
	.decode_ns = query_known((of)->decode_ns), .collate_ns = query_known((of)->collate_ns),    \
	.other_ns = query_known((of)->other_ns)

struct load_times batch_times(const struct batch_record *record)
{
	return (struct load_times){LOAD_TIMES(record), .blocked_ns = NAN};
}

struct load_times batch_totals_times(const struct load_totals *totals)
{
	return (struct load_times){LOAD_TIMES(totals),
				   .blocked_ns = query_known(totals->blocked_ns)};
}
