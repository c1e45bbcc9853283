/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lake.h - the tables of lake.def, written job by job into an SQLite file.
 *
 * A job is one transaction, which replaces what was there of it. Several processes may write into
 * one file: they wait for each other. Functions return 0 or a negative errno (db.h). Of a file:
 * -EMEDIUMTYPE: it holds no such tables; -EPROTONOSUPPORT: of a newer dlprof; -EEXIST: there are
 * jobs in it already.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "store/fleet/export.h"

#define LAKE_APPLICATION_ID 0x646C706C /* "dlpl" */
#define LAKE_VERSION        1

/* A row of each: texts that are NULL, numbers that are QUERY_UNKNOWN or not finite are NULL. */
#define LAKE_C_TEXT                      const char *
#define LAKE_C_INTEGER                   int64_t
#define LAKE_C_REAL                      double
#define LAKE_TABLE(table, keys, meaning) struct lake_##table {
#define LAKE(type, column, meaning)      LAKE_C_##type column;
#define LAKE_END(table)                                                                            \
	}                                                                                          \
	;
#include "store/fleet/lake.def"

/* What went wrong, for a person; any error of db.h, too. */
const char *lake_error(int error);

/* The statements that make the tables, in SQL that all engines understand. */
void lake_put_schema(FILE *out);

/* The name of a table, up to NULL. */
const char *lake_table(size_t i);

/* Whether the file at `path` is one of them; another one is a run, or none of ours. */
bool lake_is(const char *path);

/* Rows of a query over them, in a file. */
int lake_query(const char *path, const char *sql, const struct export_sink *sink);

struct lake;

/* To be closed also after an error. A new file is made with its first job; `path` must outlive it.
 */
int lake_open(const char *path, bool is_for_new, struct lake **ret);

/* From here on rows are of this job; the strings are the caller's until it is done. */
int lake_begin(struct lake *lake, const char *job_id, int64_t attempt);
int lake_commit(struct lake *lake);
int lake_cancel(struct lake *lake);

/* What was not committed is not there. */
void lake_close(struct lake *lake);

#define LAKE_TABLE(table, keys, meaning)                                                           \
	int lake_put_##table(struct lake *lake, const struct lake_##table *row);
#include "store/fleet/lake.def"

/* All batches of a run, as a rank of the job. */
int lake_put_run(struct lake *lake, struct db *run, int64_t rank_id);
