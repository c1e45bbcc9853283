/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - reads rows and columns. Whatever the schema says, values may have any type or sign. */
#pragma once

#include <sqlite3.h>
#include <stdarg.h>

#include "store/database/handle.h"
#include "store/database/redact.h"
#include "store/database/run.h"

/* A statement of this type is finalized at the end of its block. Initialise it with NULL. */
#define ROWS __attribute__((cleanup(rows_done))) sqlite3_stmt

static inline void rows_done(sqlite3_stmt **stmt)
{
	sqlite3_finalize(*stmt);
}

/* Binds values: 'n' is an int64_t (UNKNOWN: NULL), 's' a string that must outlive `stmt`. */
void rows_bind(sqlite3_stmt *stmt, const char *format, va_list values);

int rows_ask(struct db *db, sqlite3_stmt **ret_stmt, const char *sql, const char *format, ...);

#define rows_prepare(db, sql, ret_stmt) rows_ask(db, ret_stmt, sql, "")

/* Returns 1 if there is a row, 0 if there is none, or -errno. */
int rows_next(sqlite3_stmt *stmt);

int rows_first(struct db *db, sqlite3_stmt **ret_stmt, const char *sql, const char *format, ...);

/* Returns true if the query has a row; false also after an error. */
bool rows_any(struct db *db, const char *sql);

int rows_number(struct db *db, const char *sql, int64_t *ret);

/*
 * Makes an array of the rows of a statement whose parameter ?1 is `value`. `take` fills an item of
 * `size` zero bytes. It returns 1, 0 to leave the row out, or -errno. The caller frees *ret_items
 * (NULL: no rows), also after an error.
 */
int rows_list(struct db *db, const char *sql, int64_t value, size_t size,
	      int (*take)(sqlite3_stmt *stmt, void *item), void *ret_items, size_t *ret_count);

/* Returns a text as it is printed. No other function reads texts of a database (see redact.h). */
static inline const char *rows_text(sqlite3_stmt *stmt, int i, enum redact_kind kind)
{
	return redact(kind, (const char *)sqlite3_column_text(stmt, i));
}

/* Adds SQL functions that redact a text: redact_call(), redact_mark(), ... */
int rows_add_redaction(struct db *db);

/* Sets *ret_text to a copy of the text, or to NULL, and frees the old *ret_text. */
int rows_copy(sqlite3_stmt *stmt, int i, enum redact_kind kind, char **ret_text);

/* Copies the text into `ret`, cut to fit. NULL is copied as "". */
void rows_fill(sqlite3_stmt *stmt, int i, enum redact_kind kind, char *ret, size_t size);

/* Returns a column's number; UNKNOWN if the column has no number. */
static inline int64_t rows_int(sqlite3_stmt *stmt, int i)
{
	int type = sqlite3_column_type(stmt, i);

	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
		return UNKNOWN;
	return sqlite3_column_int64(stmt, i);
}

static inline int64_t rows_time(sqlite3_stmt *stmt, int i)
{
	int64_t value = rows_int(stmt, i);

	return value < 0 ? UNKNOWN : value;
}

static inline int32_t rows_small(sqlite3_stmt *stmt, int i)
{
	int64_t value = rows_int(stmt, i);

	return value < 0 ? -1 : value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

/* Makes a table `part` of loaders with batches, found through the index; the last id is NULL. */
#define ROWS_LOADERS                                                                               \
	"WITH RECURSIVE part(loader_id) AS (SELECT MIN(loader_id) FROM t_batch UNION ALL"          \
	"  SELECT (SELECT MIN(b.loader_id) FROM t_batch b WHERE b.loader_id > part.loader_id)"     \
	"  FROM part WHERE part.loader_id IS NOT NULL)"

/*
 * Four forms of a statement over the batches of a filter. rows_of_batches() takes [0] or [1] for a
 * part of an epoch (LIMIT), [2] or [3] for whole epochs. [1] and [3] sort by task, which is fast,
 * as t_batch has this order. [0] and [2] sort by batch, for loaders that deliver in another order.
 * `start` ends in "FROM t_batch", or in a join with t_batch.
 *
 * [2] has no LIMIT, because SQLite then sorts several times faster. ROWS_JOIN lacks [2] and [3]: it
 * sorts in a subquery, which `end` closes, and SQLite keeps the subquery's order only with a LIMIT.
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

/* Forms for sums. Forms [2] and [3] take all batches, and a sum needs no order. */
#define ROWS_SUMS(start, end)                                                                      \
	{                                                                                          \
		ROWS_PARTS(start, end), start ROWS_EACH end, start ROWS_EACH end                   \
	}

/* A filter's values to bind: first and last epoch; batches to skip, and to take (-1: all). */
struct rows_range {
	int64_t low, high, first, count;
};

struct rows_range rows_range(const struct batch_filter *filter);

/* Prepares the form for loader and filter. Finalize *ret_stmt also after an error. */
int rows_of_batches(struct db *db, const char *const sql[ROWS_FORMS],
		    const struct batch_filter *filter, sqlite3_stmt **ret_stmt);

bool rows_is_whole(const struct batch_filter *filter);
