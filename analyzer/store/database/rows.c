/* SPDX-License-Identifier: Apache-2.0 */
#include "store/database/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/array.h"
#include "analysis/statistics/clamp.h"
#include "dlprof/units.h"
#include "store/database/guard.h"

static const char BY_TASK_SQL[] =
	"SELECT in_order = 1 OR workers = 0 FROM t_loader WHERE loader_id = ?1";

void rows_bind(sqlite3_stmt *stmt, const char *format, va_list values)
{
	for (int i = 1; *format; format++, i++) {
		int64_t number = *format == 'n' ? va_arg(values, int64_t) : 0;

		if (*format == 's')
			sqlite3_bind_text(stmt, i, va_arg(values, const char *), -1, SQLITE_STATIC);
		else if (number == UNKNOWN)
			sqlite3_bind_null(stmt, i);
		else
			sqlite3_bind_int64(stmt, i, number);
	}
}

static int ask(struct db *db, sqlite3_stmt **ret_stmt, const char *sql, const char *format,
	       va_list values)
{
	int r;

	if (guard_is_spent(db))
		return db_errno(SQLITE_INTERRUPT);
	r = db_errno(sqlite3_prepare_v2(db->handle, sql, -1, ret_stmt, NULL));
	if (r == 0)
		rows_bind(*ret_stmt, format, values);
	return r;
}

int rows_ask(struct db *db, sqlite3_stmt **ret_stmt, const char *sql, const char *format, ...)
{
	va_list values;
	int r;

	va_start(values, format);
	r = ask(db, ret_stmt, sql, format, values);
	va_end(values);
	return r;
}

int rows_next(sqlite3_stmt *stmt)
{
	int r = sqlite3_step(stmt);

	return r == SQLITE_ROW ? 1 : db_errno(r);
}

int rows_first(struct db *db, sqlite3_stmt **ret_stmt, const char *sql, const char *format, ...)
{
	va_list values;
	int r;

	va_start(values, format);
	r = ask(db, ret_stmt, sql, format, values);
	va_end(values);
	return r < 0 ? r : rows_next(*ret_stmt);
}

bool rows_any(struct db *db, const char *sql)
{
	ROWS *stmt = NULL;

	return rows_first(db, &stmt, sql, "") == 1;
}

int rows_number(struct db *db, const char *sql, int64_t *ret)
{
	ROWS *stmt = NULL;
	int r = rows_first(db, &stmt, sql, "");

	*ret = r == 1 ? sqlite3_column_int64(stmt, 0) : 0;
	return r < 0 ? r : 0;
}

int rows_list(struct db *db, const char *sql, int64_t value, size_t size,
	      int (*take)(sqlite3_stmt *stmt, void *item), void *ret_items, size_t *ret_count)
{
	char **items = ret_items, *grown;
	ROWS *stmt = NULL;
	int r;

	*items = NULL;
	*ret_count = 0;
	r = rows_ask(db, &stmt, sql, "n", value);
	while (r >= 0 && (r = rows_next(stmt)) == 1) {
		grown = array_grown(*items, *ret_count, size);
		if (!grown)
			return -ENOMEM;
		*items = grown;
		r = take(stmt, memset(*items + *ret_count * size, 0, size));
		*ret_count += r > 0;
	}
	return r;
}

int rows_copy(sqlite3_stmt *stmt, int i, enum redact_kind kind, char **ret_text)
{
	const char *text = rows_text(stmt, i, kind);
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		return -ENOMEM;
	free(*ret_text);
	*ret_text = copy;
	return 0;
}

void rows_fill(sqlite3_stmt *stmt, int i, enum redact_kind kind, char *ret, size_t size)
{
	const char *text = rows_text(stmt, i, kind);

	snprintf(ret, size, "%s", text ? text : "");
}

static void show(sqlite3_context *context, int count, sqlite3_value **values)
{
	const enum redact_kind *kind = sqlite3_user_data(context);
	const char *text = redact(*kind, (const char *)sqlite3_value_text(values[0]));

	sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

int rows_add_redaction(struct db *db)
{
	static const struct {
		const char *name;
		enum redact_kind kind;
	} functions[] = {
		{"as_it_is", REDACT_NOT},
		{"redact_call", REDACT_CALL},
		{"redact_mark", REDACT_MARK},
		{"redact_text", REDACT_TEXT},
	};
	int r = SQLITE_OK;

	for (size_t i = 0; r == SQLITE_OK && i < ARRAY_COUNT(functions); i++)
		r = sqlite3_create_function(db->handle, functions[i].name, 1, SQLITE_UTF8,
					    (void *)&functions[i].kind, show, NULL, NULL);
	return db_errno(r);
}

/* Returns 1 if the loader delivers in the order of its tasks, 0 if not, or -errno. */
static int is_by_task(struct db *db, int64_t loader_id)
{
	ROWS *stmt = NULL;
	int r = rows_first(db, &stmt, BY_TASK_SQL, "n", loader_id);

	return r < 0 ? r : r == 1 && rows_int(stmt, 0) == 1;
}

struct rows_range rows_range(const struct batch_filter *filter)
{
	int64_t first = filter->first > 0 ? filter->first : 0;

	return (struct rows_range){
		/* Not INT64_MIN, which is UNKNOWN and would be bound as NULL. */
		.low = filter->epoch < 0 ? -INT64_MAX : filter->epoch,
		.high = filter->epoch < 0 ? INT64_MAX : filter->epoch,
		.first = first,
		.count = filter->last < 0	? -1
			 : filter->last < first ? 0
						: clamp_add(filter->last - first, 1),
	};
}

int rows_of_batches(struct db *db, const char *const sql[ROWS_FORMS],
		    const struct batch_filter *filter, sqlite3_stmt **ret_stmt)
{
	const struct rows_range range = rows_range(filter);
	int r = is_by_task(db, filter->loader_id);

	if (r < 0)
		return r;
	if (range.count < 0 && !range.first && sql[2 + r])
		return rows_ask(db, ret_stmt, sql[2 + r], "nnn", filter->loader_id, range.low,
				range.high);
	return rows_ask(db, ret_stmt, sql[r], "nnnnn", filter->loader_id, range.low, range.high,
			range.count, range.first);
}

bool rows_is_whole(const struct batch_filter *filter)
{
	return filter->epoch < 0 && filter->first <= 0 && filter->last < 0;
}
