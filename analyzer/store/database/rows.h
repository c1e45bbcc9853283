/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - rows and columns of statements, for the store. A file is not trusted: a column can have
 * any type and be negative, whatever the schema says.
 */
#pragma once

#include <sqlite3.h>
#include <stdarg.h>

#include "store/database/handle.h"
#include "store/database/redact.h"
#include "store/database/run.h"

/* Declares a statement that is finalized at the end of the block; initialise it with NULL. */
#define ROWS __attribute__((cleanup(rows_done))) sqlite3_stmt

static inline void rows_done(sqlite3_stmt **stmt)
{
	sqlite3_finalize(*stmt);
}

/*
 * Binds ?1, ?2, ...: `format` has a letter for each value: 'n' for an int64_t, of which UNKNOWN
 * becomes NULL; 's' for a string or NULL, which must live until the statement is done.
 */
void rows_bind(sqlite3_stmt *stmt, const char *format, va_list values);

/* Prepares a statement and binds its values. Returns 0 or -errno. */
int rows_ask(struct db *db, sqlite3_stmt **ret_stmt, const char *sql, const char *format, ...);

#define rows_prepare(db, sql, ret_stmt) rows_ask(db, ret_stmt, sql, "")

/* Goes to the next row. Returns 1 if there is one, 0 if not, or -errno. */
int rows_next(sqlite3_stmt *stmt);

/* Does rows_ask() and then rows_next(), which goes to the first row. */
int rows_first(struct db *db, sqlite3_stmt **ret_stmt, const char *sql, const char *format, ...);

/* Whether a statement gives a row; false also if it cannot be read. */
bool rows_any(struct db *db, const char *sql);

/* Reads the first number of a statement's first row; 0 without a row. Returns 0 or -errno. */
int rows_number(struct db *db, const char *sql, int64_t *ret);

/*
 * Reads all rows into an array *ret_items with items of `size` bytes, to be freed also after an
 * error; NULL without rows. `value` is bound to ?1, if the statement has it. `take` fills a zeroed
 * item and returns 1, or 0 to leave the row out, or -errno.
 */
int rows_list(struct db *db, const char *sql, int64_t value, size_t size,
	      int (*take)(sqlite3_stmt *stmt, void *item), void *ret_items, size_t *ret_count);

/* Returns what to show of a text; NULL for NULL. All texts are read by this function (redact.h). */
static inline const char *rows_text(sqlite3_stmt *stmt, int i, enum redact_kind kind)
{
	return redact(kind, (const char *)sqlite3_column_text(stmt, i));
}

/*
 * Lets statements call redact_call(TEXT), redact_mark() and redact_text(), for a text that becomes
 * a part of another one, and as_it_is(), which is REDACT_NOT. The results are texts, whatever the
 * arguments are.
 */
int rows_add_redaction(struct db *db);

/* Copies a text to *ret_text, of which the old value is freed; NULL stays NULL. 0 or -ENOMEM. */
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

/* Lists the loaders with batches, by one search in the key for each; the last row is NULL. */
#define ROWS_LOADERS                                                                               \
	"WITH RECURSIVE part(loader_id) AS (SELECT MIN(loader_id) FROM t_batch UNION ALL"          \
	"  SELECT (SELECT MIN(b.loader_id) FROM t_batch b WHERE b.loader_id > part.loader_id)"     \
	"  FROM part WHERE part.loader_id IS NOT NULL)"

/*
 * The forms of a statement over a filter's batches. A loader that delivers in order does so in the
 * order of its tasks, in which the table is stored; only other loaders' rows have to be sorted.
 * `start` ends in "FROM t_batch" or a join of it.
 *
 * With a LIMIT, SQLite sorts in a tree, which takes several times as long; so two more forms read
 * all batches of epochs. Joins have none of these, as a LIMIT keeps their order.
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

/* The forms for sums: order matters only for a LIMIT, where it decides which rows are left out. */
#define ROWS_SUMS(start, end)                                                                      \
	{                                                                                          \
		ROWS_PARTS(start, end), start ROWS_EACH end, start ROWS_EACH end                   \
	}

/* A filter as values to bind: epochs, first batch in them, number of batches (-1: all). */
struct rows_range {
	int64_t low, high, first, count;
};

struct rows_range rows_range(const struct batch_filter *filter);

/* Chooses the form for loader and filter, and binds it. Finalize *ret_stmt after errors too. */
int rows_of_batches(struct db *db, const char *const sql[ROWS_FORMS],
		    const struct batch_filter *filter, sqlite3_stmt **ret_stmt);

/* Whether the filter includes all of a loader's batches. */
bool rows_is_whole(const struct batch_filter *filter);
