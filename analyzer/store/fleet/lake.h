/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lake.h - writes jobs into the tables of lake.def, in an SQLite file.
 *
 * A job replaces its old rows in one transaction; several writers wait for each other.
 * -EMEDIUMTYPE: a file lacks these tables; -EPROTONOSUPPORT: a newer dlprof wrote it; -EEXIST: it
 * has jobs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "store/fleet/export.h"

#define LAKE_APPLICATION_ID 0x646C706C /* "dlpl" */
#define LAKE_VERSION        1

/* NULL texts, UNKNOWN numbers and numbers that are not finite become NULL. */
#define LAKE_C_TEXT                      const char *
#define LAKE_C_INTEGER                   int64_t
#define LAKE_C_REAL                      double
#define LAKE_TABLE(table, keys, meaning) struct lake_##table {
#define LAKE(type, column, meaning)      LAKE_C_##type column;
#define LAKE_END(table)                                                                            \
	}                                                                                          \
	;
#include "store/fleet/lake.def"

/* Returns words about an error of a file of jobs, or of db.h. */
const char *lake_error(int error);

/* Writes the statements that make the tables, in SQL that all of these engines understand. */
void lake_put_schema(FILE *out);

/* Returns the name of table `i`, or NULL after the last table. */
const char *lake_table(size_t i);

/* Returns false for a run, and for a file that is not dlprof's. */
bool lake_is(const char *path);

int lake_query(const char *path, const char *sql, const struct export_sink *sink);

struct lake;

/* `is_for_new`: the file must have no jobs. Close it also after an error. */
int lake_open(const char *path, bool is_for_new, struct lake **ret);

/* Rows that follow are this job's. The string must live until commit or cancel. */
int lake_begin(struct lake *lake, const char *job_id, int64_t attempt);
int lake_commit(struct lake *lake);
int lake_cancel(struct lake *lake);

/* Rows that were not committed are lost. */
void lake_close(struct lake *lake);

#define LAKE_TABLE(table, keys, meaning)                                                           \
	int lake_put_##table(struct lake *lake, const struct lake_##table *row);
#include "store/fleet/lake.def"

int lake_put_run(struct lake *lake, struct db *run, int64_t rank_id);
