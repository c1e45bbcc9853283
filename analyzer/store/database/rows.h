/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - reads rows and columns, which may have any type or be negative, whatever the schema
 * says.
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

/* `format`: 'n' for an int64_t (UNKNOWN is NULL), 's' for a string, which must live on, or NULL. */
void rows_bind(sqlite3_stmt *stmt, const char *format, va_list values);

int rows_ask(struct db *db, sqlite3_stmt **ret_stmt, const char *sql, const char *format, ...);

#define rows_prepare(db, sql, ret_stmt) rows_ask(db, ret_stmt, sql, "")

/* Returns 1 if there is a row, 0 if there is none, or -errno. */
int rows_next(sqlite3_stmt *stmt);

int rows_first(struct db *db, sqlite3_stmt **ret_stmt, const char *sql, const char *format, ...);

/* Returns false also if the statement cannot be read. */
bool rows_any(struct db *db, const char *sql);

int rows_number(struct db *db, const char *sql, int64_t *ret);

/*
 * ?1 is `value`. `take` fills a zero item, and returns 1, 0 to leave it out, or -errno. The caller
 * frees *ret_items also after an error; NULL: no rows.
 */
int rows_list(struct db *db, const char *sql, int64_t value, size_t size,
	      int (*take)(sqlite3_stmt *stmt, void *item), void *ret_items, size_t *ret_count);

/* Reads all texts of a database: see redact.h. */
static inline const char *rows_text(sqlite3_stmt *stmt, int i, enum redact_kind kind)
{
	return redact(kind, (const char *)sqlite3_column_text(stmt, i));
}

/* Adds redact_call(), redact_mark(), redact_text() and as_it_is() to SQL, which return texts. */
int rows_add_redaction(struct db *db);

/* Frees the old *ret_text. NULL stays NULL. */
int rows_copy(sqlite3_stmt *stmt, int i, enum redact_kind kind, char **ret_text);

/* Cuts the text to fit; NULL becomes "". */
void rows_fill(sqlite3_stmt *stmt, int i, enum redact_kind kind, char *ret, size_t size);

/* Returns the column's number, or UNKNOWN if it is not a number. */
static inline int64_t rows_int(sqlite3_stmt *stmt, int i)
{
	int type = sqlite3_column_type(stmt, i);

	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
		return UNKNOWN;
	return sqlite3_column_int64(stmt, i);
}

/* Returns the column's number, or UNKNOWN if it is no number or negative. */
static inline int64_t rows_time(sqlite3_stmt *stmt, int i)
{
	int64_t value = rows_int(stmt, i);

	return value < 0 ? UNKNOWN : value;
}

/* Returns the column's number, or -1 if it is no number or negative. */
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
 * Forms of a statement over a filter's batches. t_batch is stored in task order, so only loaders
 * that deliver in another order are sorted. `start` ends in "FROM t_batch" or a join with it.
 *
 * With a LIMIT, SQLite sorts in a tree, which takes several times as long, so ROWS_ORDERS has two
 * more forms for whole epochs. A join lacks these, since a LIMIT keeps its order.
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

/* Order matters only with a LIMIT, where it decides which rows are left out. */
#define ROWS_SUMS(start, end)                                                                      \
	{                                                                                          \
		ROWS_PARTS(start, end), start ROWS_EACH end, start ROWS_EACH end                   \
	}

/* A filter as values to bind: first and last epoch, first batch in them, and count (-1: all). */
struct rows_range {
	int64_t low, high, first, count;
};

struct rows_range rows_range(const struct batch_filter *filter);

/* Finalize *ret_stmt also after an error. */
int rows_of_batches(struct db *db, const char *const sql[ROWS_FORMS],
		    const struct batch_filter *filter, sqlite3_stmt **ret_stmt);

bool rows_is_whole(const struct batch_filter *filter);
