/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h - makes the tables and views of schema.sql, brings them up to date, or lends them to a
 * connection that only reads. Functions return 0 or a negative errno (db.h).
 */
#pragma once

#include <stdint.h>

#include "store/database/handle.h"

/* Makes all of them in an empty database. */
int schema_create(struct db *db);

/* Brings an older version up to the one that this program writes. */
int schema_upgrade(struct db *db, int64_t version);

/* Lends this connection what an older version lacks, empty. */
int schema_lend(struct db *db);

/*
 * Makes our own view of that name for this connection, before a statement reads it: a file's own
 * views are never run.
 */
int schema_view(struct db *db, const char *name);

/* Makes all our views, and calls `view` with the name of each that is a promise. */
int schema_each_view(struct db *db, int (*view)(const char *name, void *context), void *context);
