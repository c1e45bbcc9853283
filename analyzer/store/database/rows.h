/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - rows and columns of statements, for the files of this folder. A file is not believed: a
 * column can have any type and be below zero, whatever the schema says.
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
 * Binds ?1, ?2, ...: `format` has a letter for each: 'n' an int64_t, where UNKNOWN is NULL;
 * 's' a string, which may be NULL and stays the caller's until the statement is done.
 */
void rows_bind(sqlite3_stmt *stmt, const char *format, va_list values);

/* Prepares a statement and binds its values. 0 or -errno. */
int rows_ask(struct db *db, sqlite3_stmt **ret_stmt, const char *sql, const char *format, ...);

#define rows_prepare(db, sql, ret_stmt) rows_ask(db, ret_stmt, sql, "")

/* Goes to the next row. 1: there is one, 0: no more, or -errno. */
int rows_next(sqlite3_stmt *stmt);

/* The same as rows_ask(), and goes to the first row, as rows_next() does. */
int rows_first(struct db *db, sqlite3_stmt **ret_stmt, const char *sql, const char *format, ...);

/* Whether a statement gives a row, as far as it can be read. */
bool rows_any(struct db *db, const char *sql);

/* The first number of a statement's first row; 0 without a row. Returns 0 or -errno. */
int rows_number(struct db *db, const char *sql, int64_t *ret);

/*
 * Reads all rows into an array with items of `size` bytes, to be freed also after an error; NULL:
 * none. ?1, if the statement has it, is `value`. `take` fills an item that is all zero, and returns
 * 1; 0: the row is left out; or -errno.
 */
int rows_list(struct db *db, const char *sql, int64_t value, size_t size,
	      int (*take)(sqlite3_stmt *stmt, void *item), void *ret_items, size_t *ret_count);

/* What may be shown of a text; NULL for NULL. Texts are read here alone (redact.h). */
static inline const char *rows_text(sqlite3_stmt *stmt, int i, enum redact_kind kind)
{
	return redact(kind, (const char *)sqlite3_column_text(stmt, i));
}

/*
 * Lets statements call redact_call(TEXT), redact_mark() and redact_text(), where a text becomes a
 * part of another one, and as_it_is(), which is REDACT_NOT. The results are texts, whatever the
 * arguments are.
 */
int rows_add_redaction(struct db *db);

/* Replaces *ret_text, which is freed, by a copy of a text; NULL stays NULL. 0 or -ENOMEM. */
int rows_copy(sqlite3_stmt *stmt, int i, enum redact_kind kind, char **ret_text);

/* Copies a text into `size` bytes, cut to fit; "" for NULL. */
void rows_fill(sqlite3_stmt *stmt, int i, enum redact_kind kind, char *ret, size_t size);

/* A column as a number; UNKNOWN for what is no number. */
static inline int64_t rows_int(sqlite3_stmt *stmt, int i)
{
	int type = sqlite3_column_type(stmt, i);

	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
		return UNKNOWN;
	return sqlite3_column_int64(stmt, i);
}

/* A column as a time; UNKNOWN also for what is below zero. */
static inline int64_t rows_time(sqlite3_stmt *stmt, int i)
{
	int64_t value = rows_int(stmt, i);

	return value < 0 ? UNKNOWN : value;
}

/* A column as a small number; -1 for what is no number, or below zero. */
static inline int32_t rows_small(sqlite3_stmt *stmt, int i)
{
	int64_t value = rows_int(stmt, i);

	return value < 0 ? -1 : value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

/* All loaders that have batches, each by one step in the table's key; the last row is NULL. */
#define ROWS_LOADERS                                                                               \
	"WITH RECURSIVE part(loader_id) AS (SELECT MIN(loader_id) FROM t_batch UNION ALL"          \
	"  SELECT (SELECT MIN(b.loader_id) FROM t_batch b WHERE b.loader_id > part.loader_id)"     \
	"  FROM part WHERE part.loader_id IS NOT NULL)"

/*
 * The forms of a statement on a filter's batches. A loader that delivers in order does so in the
 * order of its tasks, as the table is stored; only other loaders' rows have to be sorted. `start`
 * ends in "FROM t_batch" or a join of it.
 *
 * With a LIMIT, SQLite sorts in a tree, which takes several times as long; so two more forms take
 * all batches of epochs. Joins have none, as a LIMIT keeps their order.
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

/* For sums the order does not matter, unless it decides which rows are left out. */
#define ROWS_SUMS(start, end)                                                                      \
	{                                                                                          \
		ROWS_PARTS(start, end), start ROWS_EACH end, start ROWS_EACH end                   \
	}

/* A filter as values for a statement: epochs, the first batch among theirs, how many (-1: all). */
struct rows_range {
	int64_t low, high, first, count;
};

struct rows_range rows_range(const struct batch_filter *filter);

/*
 * Asks the form that fits loader and filter, and binds its values. Finalize it also after an error.
 */
int rows_of_batches(struct db *db, const char *const sql[ROWS_FORMS],
		    const struct batch_filter *filter, sqlite3_stmt **ret_stmt);

/* Whether the filter lets all of a loader's batches through. */
bool rows_is_whole(const struct batch_filter *filter);
