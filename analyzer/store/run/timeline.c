/* SPDX-License-Identifier: Apache-2.0 */
#include "store/run/timeline.h"

#include <stddef.h>

#include "store/database/rows.h"

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

int timeline_events(struct db *db, enum timeline_kind kind,
		    int (*row)(const struct timeline_event *event, void *context), void *context)
{
	static const enum redact_kind redacted[TIMELINE_MAX] = {
		[TIMELINE_EPOCH] = REDACT_NOT,  [TIMELINE_SLOW] = REDACT_CALL,
		[TIMELINE_GAP] = REDACT_TEXT,   [TIMELINE_MARK] = REDACT_MARK,
		[TIMELINE_RANGE] = REDACT_MARK,
	};
	ROWS *stmt = NULL;
	int r = rows_prepare(db, EVENTS[kind], &stmt);

	while (r == 0 && (r = rows_next(stmt)) == 1) {
		const struct timeline_event event = {
			.kind = kind,
			.begin_ns = rows_int(stmt, 0),
			.ns = rows_int(stmt, 1),
			.pid = rows_int(stmt, 2),
			.tid = rows_int(stmt, 3),
			.class = rows_text(stmt, 4, REDACT_NOT),
			.what = rows_text(stmt, 5, redacted[kind]),
		};

		r = row(&event, context);
	}
	return r;
}
