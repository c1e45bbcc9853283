/* SPDX-License-Identifier: Apache-2.0 */
#include "store/run/timeline.h"

#include <stddef.h>

#include "store/database/rows.h"

/* Makes NULL of impossible numbers. */
#define KNOWN(name)                                                                                \
	", IIF(" #name " BETWEEN 0 AND 9223372036854775807, " #name ", NULL) AS " #name
#define DELIVERED(place)                                                                           \
	"CREATE TEMP VIEW delivered AS SELECT loader_id, epoch, task, " place                      \
	" AS place" BATCH_SEEN(KNOWN) STEP_PARTS(KNOWN) BATCH_LOADED(KNOWN) BATCH_COPIED(KNOWN)    \
	" FROM t_batch WHERE batch IS NOT NULL"

static const char PART_SQL[] =
	"CREATE TEMP TABLE part (id INTEGER PRIMARY KEY, loader_id INTEGER, loader TEXT,"
	" at INTEGER, epoch INTEGER, first_task INTEGER, last_task INTEGER, from_ns INTEGER,"
	" to_ns INTEGER)";

/* Has a row if a loader may deliver in another order than the order of tasks, that of t_batch. */
static const char OUT_OF_ORDER_SQL[] =
	"SELECT 1 FROM t_loader WHERE in_order = 0 AND workers > 0";

int timeline_begin(struct db *db)
{
	int r = rows_add_redaction(db);

	if (r == 0)
		r = db_run(db, rows_any(db, OUT_OF_ORDER_SQL) ? DELIVERED("batch")
							      : DELIVERED("task"));
	return r < 0 ? r : db_run(db, PART_SQL);
}

int timeline_add_part(struct db *db, const char *sql, const struct batch_filter *filter,
		      const struct timeline_worst *worst)
{
	const struct rows_range range = rows_range(filter);
	ROWS *stmt = NULL;
	int r = rows_first(db, &stmt, sql, "nnnnnnnn", filter->loader_id, range.low, range.high,
			   range.count, range.first, worst->worst, worst->before, worst->behind);

	return r < 0 ? r : sqlite3_changes(db->handle) > 0;
}

int timeline_events(struct db *db, const char *sql, bool is_whole,
		    int (*row)(const struct timeline_event *event, void *context), void *context)
{
	ROWS *stmt = NULL;
	int r = rows_ask(db, &stmt, sql, "n", (int64_t)is_whole);

	while (r == 0 && (r = rows_next(stmt)) == 1) {
		const struct timeline_event event = {
			.lane = rows_text(stmt, 0, REDACT_NOT),
			.at = rows_int(stmt, 1),
			.kind = rows_text(stmt, 2, REDACT_NOT),
			.begin_ns = rows_int(stmt, 3),
			.ns = rows_int(stmt, 4),
			.members = rows_text(stmt, 5, REDACT_NOT),
		};

		r = row(&event, context);
	}
	return r;
}
