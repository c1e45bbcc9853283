/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lake.h - the tables of lake.def, written job by job into an SQLite file.
 *
 * A job is written in one transaction, which replaces its old rows. Several processes may write
 * into one file: they wait for each other. Functions return 0 or a negative errno (db.h); for a
 * file -EMEDIUMTYPE: it has no such tables; -EPROTONOSUPPORT: it is of a newer dlprof; -EEXIST: it
 * has jobs already.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "store/fleet/export.h"

#define LAKE_APPLICATION_ID 0x646C706C /* "dlpl" */
#define LAKE_VERSION        1

/* Rows as structs. Texts that are NULL, numbers UNKNOWN or not finite become NULL. */
#define LAKE_C_TEXT                      const char *
#define LAKE_C_INTEGER                   int64_t
#define LAKE_C_REAL                      double
#define LAKE_TABLE(table, keys, meaning) struct lake_##table {
#define LAKE(type, column, meaning)      LAKE_C_##type column;
#define LAKE_END(table)                                                                            \
	}                                                                                          \
	;
#include "store/fleet/lake.def"

/* An error in words for a person, also an error of db.h. */
const char *lake_error(int error);

/* Writes the statements that make the tables, in SQL that all engines understand. */
void lake_put_schema(FILE *out);

/* The name of table `i`; NULL behind the last one. */
const char *lake_table(size_t i);

/* Whether the file at `path` has these tables; otherwise it is a run, or not ours. */
bool lake_is(const char *path);

/* Gives the rows of a query over the tables in a file. */
int lake_query(const char *path, const char *sql, const struct export_sink *sink);

struct lake;

/* Opens a file; lake_close() also after an error. Its first job makes a new file at `path`. */
int lake_open(const char *path, bool is_for_new, struct lake **ret);

/* Rows from here on are of this job, whose strings must live until it is committed or cancelled. */
int lake_begin(struct lake *lake, const char *job_id, int64_t attempt);
int lake_commit(struct lake *lake);
int lake_cancel(struct lake *lake);

/* Closes the file; what was not committed is lost. */
void lake_close(struct lake *lake);

#define LAKE_TABLE(table, keys, meaning)                                                           \
	int lake_put_##table(struct lake *lake, const struct lake_##table *row);
#include "store/fleet/lake.def"

/* Adds all batches of a run, as a rank of the job. */
int lake_put_run(struct lake *lake, struct db *run, int64_t rank_id);
