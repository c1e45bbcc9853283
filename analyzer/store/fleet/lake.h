/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lake.h - writes jobs into the tables of lake.def, in an SQLite file.
 *
 * One transaction replaces all rows of a job. Of several writers, each waits for the others.
 * Errors: -EMEDIUMTYPE: the file lacks these tables; -EPROTONOSUPPORT: a newer dlprof wrote the
 * file; -EEXIST: the file has jobs already.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "store/fleet/export.h"

#define LAKE_APPLICATION_ID 0x646C706C /* the letters "dlpl" */
#define LAKE_VERSION        1

/* A struct for each table. A NULL text, UNKNOWN, and a number that is not finite become NULL. */
#define LAKE_C_TEXT                      const char *
#define LAKE_C_INTEGER                   int64_t
#define LAKE_C_REAL                      double
#define LAKE_TABLE(table, keys, meaning) struct lake_##table {
#define LAKE(type, column, meaning)      LAKE_C_##type column;
#define LAKE_END(table)                                                                            \
	}                                                                                          \
	;
#include "store/fleet/lake.def"

/* Returns in words an error of a function of this header or of db.h. */
const char *lake_error(int error);

/* Writes CREATE TABLE statements which SQLite, DuckDB, PostgreSQL and ClickHouse understand. */
void lake_put_schema(FILE *out);

/* Returns the name of table `i`, or NULL after the last table. */
const char *lake_table(size_t i);

/* Returns true if the file has the tables of lake.def, which runs do not have. */
bool lake_is(const char *path);

int lake_query(const char *path, const char *sql, const struct export_sink *sink);

struct lake;

/* Opens a file for writing. -EEXIST: is_for_new, but it has jobs. Call lake_close() in any case. */
int lake_open(const char *path, bool is_for_new, struct lake **ret);

/* Begins the rows of a job. `job_id` must live until lake_commit() or lake_cancel(). */
int lake_begin(struct lake *lake, const char *job_id, int64_t attempt);
int lake_commit(struct lake *lake);
int lake_cancel(struct lake *lake);

/* Closes the file; rows that were not committed are lost. */
void lake_close(struct lake *lake);

#define LAKE_TABLE(table, keys, meaning)                                                           \
	int lake_put_##table(struct lake *lake, const struct lake_##table *row);
#include "store/fleet/lake.def"

int lake_put_run(struct lake *lake, struct db *run, int64_t rank_id);
