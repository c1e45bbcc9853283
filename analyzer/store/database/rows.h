/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - reads rows and columns of statements, for the store. Files are not trusted: a column may
 * have any type, or be negative, whatever the schema says.
 */
#pragma once

#include <sqlite3.h>
#include <stdarg.h>

#include "store/database/handle.h"
#include "store/database/redact.h"
#include "store/database/run.h"

/* Declares a statement, finalized at the end of the block. It must be initialised with NULL. */
#define ROWS __attribute__((cleanup(rows_done))) sqlite3_stmt

static inline void rows_done(sqlite3_stmt **stmt)
{
	sqlite3_finalize(*stmt);
}

/*
 * Binds ?1, ?2, ...: `format` has a letter for each value: 'n' for an int64_t, UNKNOWN being bound
 * as NULL; 's' for a string or NULL. A string must live until the statement is finalized.
 */
void rows_bind(sqlite3_stmt *stmt, const char *format, va_list values);

/* Prepares a statement and binds its values. Returns 0 or -errno. */
int rows_ask(struct db *db, sqlite3_stmt **ret_stmt, const char *sql, const char *format, ...);

#define rows_prepare(db, sql, ret_stmt) rows_ask(db, ret_stmt, sql, "")

/* Goes to the next row. Returns 1 if there is one, 0 if there is none, or -errno. */
int rows_next(sqlite3_stmt *stmt);

/* Calls rows_ask(), and then rows_next() to go to the first row. */
int rows_first(struct db *db, sqlite3_stmt **ret_stmt, const char *sql, const char *format, ...);

/* Returns true if a statement has a row; false if not, or if it cannot be read. */
bool rows_any(struct db *db, const char *sql);

/* Reads the first number of a statement's first row; 0 without a row. Returns 0 or -errno. */
int rows_number(struct db *db, const char *sql, int64_t *ret);

/*
 * Reads all rows into an array of items of `size` bytes, which the caller frees, also after an
 * error; it is NULL if there are no rows. `value` is bound to ?1. `take` fills one item, all zero
 * at first, and returns 1, 0 to leave the row out, or -errno.
 */
int rows_list(struct db *db, const char *sql, int64_t value, size_t size,
	      int (*take)(sqlite3_stmt *stmt, void *item), void *ret_items, size_t *ret_count);

/* Returns what to print for a text; NULL for NULL. Reads all texts of a database (redact.h). */
static inline const char *rows_text(sqlite3_stmt *stmt, int i, enum redact_kind kind)
{
	return redact(kind, (const char *)sqlite3_column_text(stmt, i));
}

/*
 * Adds functions to SQL: redact_call(TEXT), redact_mark() and redact_text(), for a text that
 * becomes part of another one, and as_it_is(), which is REDACT_NOT. They return texts, whatever
 * their arguments are.
 */
int rows_add_redaction(struct db *db);

/* Copies a text to *ret_text, after freeing the old one; NULL stays NULL. Returns 0 or -ENOMEM. */
int rows_copy(sqlite3_stmt *stmt, int i, enum redact_kind kind, char **ret_text);

/* Copies a text into `size` bytes, cut to fit; NULL becomes "". */
void rows_fill(sqlite3_stmt *stmt, int i, enum redact_kind kind, char *ret, size_t size);

/* Returns a column as a number; UNKNOWN if it is not a number. */
static inline int64_t rows_int(sqlite3_stmt *stmt, int i)
{
	int type = sqlite3_column_type(stmt, i);

	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
		return UNKNOWN;
	return sqlite3_column_int64(stmt, i);
}

/* Returns a column as a time; UNKNOWN if it is not a number, or negative. */
static inline int64_t rows_time(sqlite3_stmt *stmt, int i)
{
	int64_t value = rows_int(stmt, i);

	return value < 0 ? UNKNOWN : value;
}

/* Returns a column as a small number; -1 if it is not a number, or negative. */
static inline int32_t rows_small(sqlite3_stmt *stmt, int i)
{
	int64_t value = rows_int(stmt, i);

	return value < 0 ? -1 : value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

/* Lists the ids of loaders with batches by one index search for each. The last row is NULL. */
#define ROWS_LOADERS                                                                               \
	"WITH RECURSIVE part(loader_id) AS (SELECT MIN(loader_id) FROM t_batch UNION ALL"          \
	"  SELECT (SELECT MIN(b.loader_id) FROM t_batch b WHERE b.loader_id > part.loader_id)"     \
	"  FROM part WHERE part.loader_id IS NOT NULL)"

/*
 * Forms of a statement over a filter's batches. Loaders that deliver in order do so in task order,
 * in which t_batch is stored; only the rows of other loaders have to be sorted. `start` ends in
 * "FROM t_batch" or a join with it.
 *
 * With a LIMIT, SQLite sorts in a tree, which takes several times as long, so ROWS_ORDERS has two
 * more forms without a LIMIT, for whole epochs. A join lacks these, since a LIMIT keeps its order.
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

/* The forms for sums. Order matters only with a LIMIT, where it decides which rows are left out. */
#define ROWS_SUMS(start, end)                                                                      \
	{                                                                                          \
		ROWS_PARTS(start, end), start ROWS_EACH end, start ROWS_EACH end                   \
	}

/* A filter as values to bind: first and last epoch, first batch in them, and count (-1: all). */
struct rows_range {
	int64_t low, high, first, count;
};

struct rows_range rows_range(const struct batch_filter *filter);

/* Chooses and binds the form for a loader and filter. Finalize *ret_stmt after errors, too. */
int rows_of_batches(struct db *db, const char *const sql[ROWS_FORMS],
		    const struct batch_filter *filter, sqlite3_stmt **ret_stmt);

/* Returns true if the filter includes all of a loader's batches. */
bool rows_is_whole(const struct batch_filter *filter);
