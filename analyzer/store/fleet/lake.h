/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lake.h - writes the tables of lake.def, job by job, into an SQLite file.
 *
 * A job is written in one transaction, which replaces its old rows. Several processes may write
 * into one file: they wait for each other. Functions return 0 or a negative errno (db.h); for a
 * file, -EMEDIUMTYPE: it does not have these tables; -EPROTONOSUPPORT: it is of a newer dlprof;
 * -EEXIST: it has jobs already.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "store/fleet/export.h"

#define LAKE_APPLICATION_ID 0x646C706C /* "dlpl" */
#define LAKE_VERSION        1

/* Rows as structs. NULL texts, UNKNOWN numbers and numbers that are not finite become NULL. */
#define LAKE_C_TEXT                      const char *
#define LAKE_C_INTEGER                   int64_t
#define LAKE_C_REAL                      double
#define LAKE_TABLE(table, keys, meaning) struct lake_##table {
#define LAKE(type, column, meaning)      LAKE_C_##type column;
#define LAKE_END(table)                                                                            \
	}                                                                                          \
	;
#include "store/fleet/lake.def"

/* Returns an error of a file of jobs, or of db.h, as words for a person. */
const char *lake_error(int error);

/* Writes the statements that make the tables, in SQL that all engines understand. */
void lake_put_schema(FILE *out);

/* Returns the name of table `i`; NULL after the last one. */
const char *lake_table(size_t i);

/* Whether the file at `path` has these tables; if not, it is a run, or not ours. */
bool lake_is(const char *path);

/* Hands the rows of a query over the tables of a file to `sink`. */
int lake_query(const char *path, const char *sql, const struct export_sink *sink);

struct lake;

/* Opens or makes a file. `is_for_new`: it must have no jobs. Close it also after an error. */
int lake_open(const char *path, bool is_for_new, struct lake **ret);

/* Begins the job of the following rows. Its strings must live until its commit or cancel. */
int lake_begin(struct lake *lake, const char *job_id, int64_t attempt);
int lake_commit(struct lake *lake);
int lake_cancel(struct lake *lake);

/* Closes the file; rows that were not committed are lost. */
void lake_close(struct lake *lake);

#define LAKE_TABLE(table, keys, meaning)                                                           \
	int lake_put_##table(struct lake *lake, const struct lake_##table *row);
#include "store/fleet/lake.def"

/* Adds all batches of a run, as those of a rank of the job. */
int lake_put_run(struct lake *lake, struct db *run, int64_t rank_id);
