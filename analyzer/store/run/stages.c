/* SPDX-License-Identifier: Apache-2.0 */
#include "store/run/stages.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "store/run/query.h"
#include "store/database/rows.h"

/* Only some windows have a CPU time; the others are assumed to have the same share. */
/* In its first window, DALI's reader fills its buffer (initial_fill), which is no steady work. */
#define SQL(epochs)                                                                                \
	"SELECT s.stage_id, (SELECT p.stage_id FROM t_stage p WHERE p.pid = s.pid"                 \
	"  AND p.number = s.parent), kind, name, kernel, root, autotuned, parallel, capacity,"     \
	" threads, SUM(elements), SUM(busy_ns), SUM(own_ns),"                                      \
	" SUM(cpu_ns) * 1.0 * SUM(own_ns) / NULLIF(SUM(IIF(cpu_ns IS NULL, 0, own_ns)), 0),"       \
	" SUM(read_ns), SUM(ready), SUM(window_ns)"                                                \
	" FROM t_stage_sum JOIN t_stage s USING (stage_id)"                                        \
	" WHERE loader_id = ?1 AND name IS NOT NULL AND begin_ns >= ("                             \
	"  SELECT MIN(begin_ns) + (l.kind IS 'DALI') FROM t_stage_sum JOIN t_loader l"             \
	"  USING (loader_id) WHERE loader_id = ?1)" epochs                                         \
	" GROUP BY s.stage_id ORDER BY s.stage_id LIMIT 512"

static const char ALL_SQL[] = SQL("");
static const char LATER_SQL[] =
	SQL(" AND epoch > (SELECT MIN(epoch) FROM t_stage_sum m WHERE m.loader_id = ?1)");

struct row {
	struct stage_work stage;
	int64_t id, parent;
	double span_ns;
};

static double real(sqlite3_stmt *stmt, int i)
{
	return query_known(rows_time(stmt, i));
}

static int take(sqlite3_stmt *stmt, void *item)
{
	struct row *row = item;
	struct stage_work *stage = &row->stage;
	char kind[16];

	row->id = rows_int(stmt, 0);
	row->parent = rows_int(stmt, 1);
	rows_fill(stmt, 2, REDACT_NOT, kind, sizeof(kind));
	rows_fill(stmt, 3, REDACT_NOT, stage->name, sizeof(stage->name));
	stage->kind = stage_kind_find(kind);
	stage->is_kernel = rows_int(stmt, 4) == 1;
	stage->is_root = rows_int(stmt, 5) == 1;
	stage->is_autotuned = rows_int(stmt, 6) == 1;
	stage->parallel = rows_small(stmt, 7);
	stage->capacity = rows_small(stmt, 8);
	stage->threads = rows_small(stmt, 9);
	stage->elements = real(stmt, 10);
	stage->busy_ns = real(stmt, 11);
	stage->own_ns = real(stmt, 12);
	stage->cpu_ns = real(stmt, 13);
	stage->read_ns = real(stmt, 14);
	stage->queue = stage->kind == STAGE_PREFETCH ? real(stmt, 15) / stage->elements : NAN;
	row->span_ns = real(stmt, 16);
	return stage->elements >= 0 && stage->busy_ns >= 0 && stage->own_ns >= 0;
}

int stages_read(struct db *db, int64_t loader_id, bool is_later, struct stages *ret)
{
	struct row *rows = NULL;
	size_t count = 0;
	int r = rows_list(db, is_later ? LATER_SQL : ALL_SQL, loader_id, sizeof(*rows), take, &rows,
			  &count);

	*ret = (struct stages){.span_ns = NAN, .is_later = is_later};
	if (r == 0 && count)
		ret->list = calloc(count, sizeof(*ret->list));
	if (r == 0 && count && !ret->list)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < count; i++) {
		ret->list[i] = rows[i].stage;
		ret->list[i].parent = STAGE_NOWHERE;
		for (size_t k = 0; k < count; k++)
			if (rows[k].id == rows[i].parent)
				ret->list[i].parent = k;
		if (rows[i].stage.is_root && !(rows[i].span_ns < ret->span_ns))
			ret->span_ns = rows[i].span_ns;
		ret->count++;
	}
	free(rows);
	return r;
}
