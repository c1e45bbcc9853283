/* SPDX-License-Identifier: Apache-2.0 */
#include "store/timeline.h"

#include <sqlite3.h>
#include <stddef.h>

#define NAME(name)   #name ", "
#define SELECT_BATCH "SELECT " TIMELINE_COLUMNS(NAME) "0 FROM t_batch WHERE loader_id = ?1"

/* As in query.c: in the order of the table where that is the order of delivery. */
static const char *const BATCHES_SQL[2] = {
	SELECT_BATCH " AND batch IS NOT NULL AND (?2 < 0 OR epoch = ?2) ORDER BY epoch, batch"
		     " LIMIT ?3 OFFSET ?4",
	SELECT_BATCH " AND batch IS NOT NULL AND (?2 < 0 OR epoch = ?2) ORDER BY epoch, task"
		     " LIMIT ?3 OFFSET ?4",
};

static const char IN_ORDER_SQL[] =
	"SELECT in_order = 1 OR workers = 0 FROM t_loader WHERE loader_id = ?1";

/* By task, so that it takes as long as there are rows to hand out, however long the run is. */
static const char NEWEST_SQL[] =
	SELECT_BATCH " AND batch IS NOT NULL ORDER BY epoch DESC, task DESC LIMIT ?2";

static const char LOADERS_SQL[] =
	"SELECT loader_id, workers, prefetch_factor, in_order, (SELECT begin_ns FROM t_batch b"
	" WHERE b.loader_id = l.loader_id AND batch IS NOT NULL ORDER BY epoch DESC, task DESC"
	" LIMIT 1) FROM t_loader l ORDER BY loader_id LIMIT ?1";

static const struct {
	const char *view; /* which older databases may lack */
	const char *sql;
} EVENTS[TIMELINE_MAX] = {
	[TIMELINE_EPOCH] = {"epoch", "SELECT begin_ns, setup_ns, loader_id, epoch, NULL, NULL"
				     " FROM epoch ORDER BY loader_id, epoch"},
	[TIMELINE_SLOW] = {"slow", "SELECT ts_ns, ns, pid, tid, class, what FROM slow"
				   " ORDER BY ts_ns, tid"},
	[TIMELINE_GAP] = {"gap", "SELECT begin_ns, IFNULL(end_ns, (SELECT CAST(value AS INTEGER)"
				 " FROM meta WHERE key = 'end_ns')) - begin_ns, 0, 0, NULL, why"
				 " FROM gap ORDER BY begin_ns"},
	[TIMELINE_MARK] = {"mark", "SELECT ts_ns, 0, pid, tid, NULL, text FROM mark"
				   " ORDER BY ts_ns, tid"},
};

static int64_t integer(sqlite3_stmt *stmt, int column)
{
	int type = sqlite3_column_type(stmt, column);

	return type == SQLITE_INTEGER || type == SQLITE_FLOAT ? sqlite3_column_int64(stmt, column)
							      : QUERY_UNKNOWN;
}

static int prepare(struct db *db, const char *sql, const int64_t *values, int count,
		   sqlite3_stmt **ret)
{
	int r = sqlite3_prepare_v2(db_handle(db), sql, -1, ret, NULL);

	for (int i = 0; r == SQLITE_OK && i < count; i++)
		r = sqlite3_bind_int64(*ret, i + 1, values[i]);
	return db_errno(r);
}

/* What an aggregate or a lookup of one number says, or `absent` where there is no row. */
static int ask(struct db *db, const char *sql, int64_t value, int64_t absent, int64_t *ret)
{
	sqlite3_stmt *stmt = NULL;
	int r = prepare(db, sql, &value, 1, &stmt);

	*ret = absent;
	if (r == 0) {
		r = sqlite3_step(stmt);
		if (r == SQLITE_ROW)
			*ret = integer(stmt, 0);
		r = db_errno(r);
	}
	sqlite3_finalize(stmt);
	return r;
}

static int hand_out(sqlite3_stmt *stmt,
		    int (*row)(const struct timeline_batch *batch, void *context), void *context)
{
	struct timeline_batch batch;
	int i, r;

	while ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
		i = 0;
#define X(name) batch.name = integer(stmt, i++);
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
	int64_t first = filter->first > 0 ? filter->first : 0, in_order;
	int64_t count = filter->last < 0 ? -1 : filter->last < first ? 0 : filter->last - first + 1;
	const int64_t values[] = {filter->loader_id, filter->epoch, count, first};
	sqlite3_stmt *stmt = NULL;
	int r = ask(db, IN_ORDER_SQL, filter->loader_id, 0, &in_order);

	if (r == 0)
		r = prepare(db, BATCHES_SQL[in_order == 1], values, 4, &stmt);
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
			.loader_id = integer(stmt, 0),
			.workers = integer(stmt, 1),
			.prefetch_factor = integer(stmt, 2),
			.in_order = integer(stmt, 3),
			.newest_ns = integer(stmt, 4),
		};
		r = 0;
	}
	sqlite3_finalize(stmt);
	return r < 0 ? r : db_errno(r);
}

static int has_view(struct db *db, const char *view, bool *ret)
{
	sqlite3_stmt *stmt = NULL;
	int r = sqlite3_prepare_v2(db_handle(db), "SELECT 1 FROM sqlite_schema WHERE name = ?1", -1,
				   &stmt, NULL);

	if (r == SQLITE_OK)
		r = sqlite3_bind_text(stmt, 1, view, -1, SQLITE_STATIC);
	if (r == SQLITE_OK)
		r = sqlite3_step(stmt);
	*ret = r == SQLITE_ROW;
	sqlite3_finalize(stmt);
	return db_errno(r);
}

int timeline_events(struct db *db, enum timeline_kind kind,
		    int (*row)(const struct timeline_event *event, void *context), void *context)
{
	sqlite3_stmt *stmt = NULL;
	bool there;
	int r = has_view(db, EVENTS[kind].view, &there), stopped = 0;

	if (r < 0 || !there)
		return r;
	r = prepare(db, EVENTS[kind].sql, NULL, 0, &stmt);
	while (r == 0 && !stopped && (r = sqlite3_step(stmt)) == SQLITE_ROW) {
		const struct timeline_event event = {
			.kind = kind,
			.begin_ns = integer(stmt, 0),
			.ns = integer(stmt, 1),
			.pid = integer(stmt, 2),
			.tid = integer(stmt, 3),
			.class = (const char *)sqlite3_column_text(stmt, 4),
			.what = (const char *)sqlite3_column_text(stmt, 5),
		};

		stopped = row(&event, context);
		r = 0;
	}
	sqlite3_finalize(stmt);
	return stopped ? stopped : r < 0 ? r : db_errno(r);
}
