/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h - makes the tables and views of schema.sql in a database, upgrades older databases, or,
 * for a connection that only reads, adds what is missing as temporary objects. Functions return 0
 * or a negative errno (db.h).
 */
#pragma once

#include <stdint.h>

#include "store/database/handle.h"

/* Makes all tables and views in an empty database. */
int schema_create(struct db *db);

/* Upgrades a database of an older `version` to DB_SCHEMA_VERSION. */
int schema_upgrade(struct db *db, int64_t version);

/* Adds empty tables and columns that an older version lacks, for this connection only. */
int schema_lend(struct db *db);

/*
 * Makes the view `name` of schema.sql for this connection. Must be called before a statement reads
 * it, because views in the file are never run.
 */
int schema_view(struct db *db, const char *name);

/* Makes all views of schema.sql, and calls `view` with the name of each public one. */
int schema_each_view(struct db *db, int (*view)(const char *name, void *context), void *context);
