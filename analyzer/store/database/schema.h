/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h - makes the tables and views of schema.sql in a database, upgrades older ones, or
 * provides missing ones to a connection that only reads. Functions return 0 or a negative errno
 * (db.h).
 */
#pragma once

#include <stdint.h>

#include "store/database/handle.h"

/* Makes all tables and views in an empty database. */
int schema_create(struct db *db);

/* Upgrades a database of an older `version` to the one that this program writes. */
int schema_upgrade(struct db *db, int64_t version);

/* Provides tables and columns that an older version lacks, empty, to this connection only. */
int schema_lend(struct db *db);

/*
 * Makes our own view `name` for this connection, before a statement reads it: the views in the file
 * are never run.
 */
int schema_view(struct db *db, const char *name);

/* Makes all our views, and calls `view` with the name of each public one. */
int schema_each_view(struct db *db, int (*view)(const char *name, void *context), void *context);
