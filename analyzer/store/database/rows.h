/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - for the files of this folder: a statement's rows and columns. What a file holds is not
 * believed: a column can be of any type and below zero, whatever the schema says.
 */
#pragma once

#include <sqlite3.h>
#include <stdarg.h>

#include "store/database/handle.h"
#include "store/database/redact.h"
#include "store/database/run.h"

/* A statement that is finalized at the end of the block; NULL at first. */
#define ROWS __attribute__((cleanup(rows_done))) sqlite3_stmt

static inline void rows_done(sqlite3_stmt **stmt)
{
	sqlite3_finalize(*stmt);
}

/*
 * Binds ?1, ?2, ...: `format` has a letter for each: 'n' an int64_t, where QUERY_UNKNOWN is NULL;
 * 's' a string, which may be NULL and stays the caller's until the statement is done.
 */
void rows_bind(sqlite3_stmt *stmt, const char *format, va_list values);

/* Prepares a statement and binds its values. 0 or -errno. */
int rows_ask(struct db *db, sqlite3_stmt **ret_stmt, const char *sql, const char *format, ...);

#define rows_prepare(db, sql, ret_stmt) rows_ask(db, ret_stmt, sql, "")

/* 1: a row, 0: no more, or -errno. */
int rows_next(sqlite3_stmt *stmt);

/* Whether a statement gives a row, as far as it can be read. */
bool rows_any(struct db *db, const char *sql);

/* The number that a statement gives first; 0: it gives no row. 0 or -errno. */
int rows_number(struct db *db, const char *sql, int64_t *ret);

/*
 * All rows of a statement, with ?1 bound to `value` if it has that, as an array of items of `size`
 * bytes, to be freed also after an error; NULL: none. `take` fills one that is all zero: 1, 0: it
 * is left out, or -errno.
 */
int rows_list(struct db *db, const char *sql, int64_t value, size_t size,
	      int (*take)(sqlite3_stmt *stmt, void *item), void *ret_items, size_t *ret_count);

/* What may be shown of a text; NULL for NULL. The one place where texts are read (redact.h). */
static inline const char *rows_text(sqlite3_stmt *stmt, int i, enum redact_kind kind)
{
	return redact(kind, (const char *)sqlite3_column_text(stmt, i));
}

/*
 * Statements may call redact_call(TEXT), redact_mark() and redact_text() from now on, where a text
 * becomes a part of another one; as_it_is(): REDACT_NOT. The result is a text, whatever it is of.
 */
int rows_add_redaction(struct db *db);

/* A copy of it in place of *ret_text, which is freed; NULL stays NULL. 0 or -ENOMEM. */
int rows_copy(sqlite3_stmt *stmt, int i, enum redact_kind kind, char **ret_text);

/* The same into `size` bytes, cut to fit; "" for NULL. */
void rows_fill(sqlite3_stmt *stmt, int i, enum redact_kind kind, char *ret, size_t size);

/* QUERY_UNKNOWN for what is no number. */
static inline int64_t rows_int(sqlite3_stmt *stmt, int i)
{
	int type = sqlite3_column_type(stmt, i);

	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
		return QUERY_UNKNOWN;
	return sqlite3_column_int64(stmt, i);
}

/* Likewise for what is below zero. */
static inline int64_t rows_time(sqlite3_stmt *stmt, int i)
{
	int64_t value = rows_int(stmt, i);

	return value < 0 ? QUERY_UNKNOWN : value;
}

/* The same, but -1 for unknown. */
static inline int32_t rows_small(sqlite3_stmt *stmt, int i)
{
	int64_t value = rows_int(stmt, i);

	return value < 0 ? -1 : value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

/* The loaders that have batches, each found by one step in the table's key; the last row is NULL.
 */
#define ROWS_LOADERS                                                                               \
	"WITH RECURSIVE part(loader_id) AS (SELECT MIN(loader_id) FROM t_batch UNION ALL"          \
	"  SELECT (SELECT MIN(b.loader_id) FROM t_batch b WHERE b.loader_id > part.loader_id)"     \
	"  FROM part WHERE part.loader_id IS NOT NULL)"

/*
 * A loader that delivers in order delivers in the order of its tasks, which is how the table is
 * stored; only for others do the rows have to be sorted. Hence two forms of each statement on a
 * filter's batches. `start` ends in "FROM t_batch" or a join of it.
 *
 * What has a LIMIT SQLite sorts in a tree, which takes several times as long: hence two more, for
 * all batches of epochs. Not of a join, where a LIMIT keeps its order.
 */
#define ROWS_FORMS 4
#define ROWS_EACH  " WHERE loader_id = ?1 AND epoch BETWEEN ?2 AND ?3 AND batch IS NOT NULL"
#define ROWS_PART  " LIMIT ?4 OFFSET ?5"
#define ROWS_BATCH " ORDER BY epoch, batch"
#define ROWS_TASK  " ORDER BY epoch, task"
#define ROWS_PARTS(start, end)                                                                     \
	start ROWS_EACH ROWS_BATCH ROWS_PART end, start ROWS_EACH ROWS_TASK ROWS_PART end
#define ROWS_JOIN(start, end)                                                                      \
	{                                                                                          \
		ROWS_PARTS(start, end)                                                             \
	}
#define ROWS_ORDERS(start, end)                                                                    \
	{                                                                                          \
		ROWS_PARTS(start, end), start ROWS_EACH ROWS_BATCH end,                            \
			start ROWS_EACH ROWS_TASK end                                              \
	}

/* Of sums the order is no matter, unless it says which rows are left out. */
#define ROWS_SUMS(start, end)                                                                      \
	{                                                                                          \
		ROWS_PARTS(start, end), start ROWS_EACH end, start ROWS_EACH end                   \
	}

/* A filter as values for a statement: epochs, the first batch among theirs, how many (-1: all). */
struct rows_range {
	int64_t low, high, first, count;
};

struct rows_range rows_range(const struct batch_filter *filter);

/* Of those the one that fits loader and filter, its values bound. To be finalized, also after an
 * error.
 */
int rows_of_batches(struct db *db, const char *const sql[ROWS_FORMS],
		    const struct batch_filter *filter, sqlite3_stmt **ret_stmt);

/* Does the filter let all of a loader's batches through? */
bool rows_is_whole(const struct batch_filter *filter);
