/* SPDX-License-Identifier: Apache-2.0 */
#include "store/timeline.h"

#include <stddef.h>

#include "store/rows.h"

#define NAME(name)   #name ", "
#define SELECT_BATCH "SELECT " TIMELINE_COLUMNS(NAME) "0 FROM t_batch"

static const char *const BATCHES_SQL[2] = ROWS_ORDERS(SELECT_BATCH, "");

/* By task, so that it takes as long as there are rows to hand out, however long the run is. */
static const char NEWEST_SQL[] =
	SELECT_BATCH " WHERE loader_id = ?1 AND batch IS NOT NULL ORDER BY epoch DESC, task DESC"
		     " LIMIT ?2";

static const char LOADERS_SQL[] =
	"SELECT loader_id, workers, prefetch_factor, in_order, (SELECT begin_ns FROM t_batch b"
	" WHERE b.loader_id = l.loader_id AND batch IS NOT NULL ORDER BY epoch DESC, task DESC"
	" LIMIT 1) FROM t_loader l ORDER BY loader_id LIMIT ?1";

static const char *const EVENTS[TIMELINE_MAX] = {
	[TIMELINE_EPOCH] = "SELECT begin_ns, setup_ns, loader_id, epoch, NULL, NULL"
			   " FROM t_epoch ORDER BY loader_id, epoch",
	[TIMELINE_SLOW] = "SELECT ts_ns, ns, pid, tid, class, what FROM t_slow ORDER BY ts_ns, tid",
	[TIMELINE_GAP] = "SELECT begin_ns, IFNULL(end_ns, (SELECT CAST(value AS INTEGER)"
			 " FROM t_meta WHERE key = 'end_ns')) - begin_ns, 0, 0, NULL, why"
			 " FROM t_gap ORDER BY begin_ns",
	[TIMELINE_MARK] = "SELECT ts_ns, 0, pid, tid, NULL, text FROM t_mark"
			  " WHERE ns IS NULL ORDER BY ts_ns, tid",
	[TIMELINE_RANGE] = "SELECT ts_ns, ns, pid, tid, NULL, text FROM t_mark"
			   " WHERE ns IS NOT NULL ORDER BY ts_ns, ns DESC, tid",
};

static int prepare(struct db *db, const char *sql, const int64_t *values, int count,
		   sqlite3_stmt **ret)
{
	int r = sqlite3_prepare_v2(db->handle, sql, -1, ret, NULL);

	for (int i = 0; r == SQLITE_OK && i < count; i++)
		r = sqlite3_bind_int64(*ret, i + 1, values[i]);
	return db_errno(r);
}

static int hand_out(sqlite3_stmt *stmt,
		    int (*row)(const struct timeline_batch *batch, void *context), void *context)
{
	struct timeline_batch batch;
	int i, r;

	while ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
		i = 0;
#define X(name) batch.name = rows_int(stmt, i++);
		TIMELINE_COLUMNS(X)
#undef X
		r = row(&batch, context);
		if (r)
			return r;
	}
	return db_errno(r);
}

int timeline_batches(struct db *db, const struct batch_filter *filter,
		     int (*row)(const struct timeline_batch *batch, void *context), void *context)
{
	sqlite3_stmt *stmt = NULL;
	int r = rows_of_batches(db, BATCHES_SQL, filter, &stmt);

	if (r == 0)
		r = hand_out(stmt, row, context);
	sqlite3_finalize(stmt);
	return r;
}

int timeline_newest(struct db *db, int64_t loader_id, int64_t count,
		    int (*row)(const struct timeline_batch *batch, void *context), void *context)
{
	const int64_t values[] = {loader_id, count};
	sqlite3_stmt *stmt = NULL;
	int r = prepare(db, NEWEST_SQL, values, 2, &stmt);

	if (r == 0)
		r = hand_out(stmt, row, context);
	sqlite3_finalize(stmt);
	return r;
}

int timeline_loaders(struct db *db, struct timeline_loader *ret, size_t *ret_count)
{
	const int64_t most = TIMELINE_LOADERS;
	sqlite3_stmt *stmt = NULL;
	int r = prepare(db, LOADERS_SQL, &most, 1, &stmt);

	*ret_count = 0;
	while (r == 0 && (r = sqlite3_step(stmt)) == SQLITE_ROW) {
		ret[(*ret_count)++] = (struct timeline_loader){
			.loader_id = rows_int(stmt, 0),
			.workers = rows_int(stmt, 1),
			.prefetch_factor = rows_int(stmt, 2),
			.in_order = rows_int(stmt, 3),
			.newest_ns = rows_int(stmt, 4),
		};
		r = 0;
	}
	sqlite3_finalize(stmt);
	return r < 0 ? r : db_errno(r);
}

int timeline_events(struct db *db, enum timeline_kind kind,
		    int (*row)(const struct timeline_event *event, void *context), void *context)
{
	sqlite3_stmt *stmt = NULL;
	int r = prepare(db, EVENTS[kind], NULL, 0, &stmt), stopped = 0;

	while (r == 0 && !stopped && (r = sqlite3_step(stmt)) == SQLITE_ROW) {
		const struct timeline_event event = {
			.kind = kind,
			.begin_ns = rows_int(stmt, 0),
			.ns = rows_int(stmt, 1),
			.pid = rows_int(stmt, 2),
			.tid = rows_int(stmt, 3),
			.class = rows_text(stmt, 4, REDACT_NOT),
			.what = rows_text(stmt, 5,
					  kind == TIMELINE_SLOW ? REDACT_CALL : REDACT_TEXT),
		};

		stopped = row(&event, context);
		r = 0;
	}
	sqlite3_finalize(stmt);
	return stopped ? stopped : r < 0 ? r : db_errno(r);
}
