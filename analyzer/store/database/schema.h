/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h - the tables and views of schema.sql: made, brought up to date, or lent to one that
 * only reads. Functions return 0 or a negative errno (db.h).
 */
#pragma once

#include <stdint.h>

#include "store/database/handle.h"

/* In an empty database. */
int schema_create(struct db *db);

/* Of an older version, to what this one writes. */
int schema_upgrade(struct db *db, int64_t version);

/* What an older version lacks, empty and for this connection alone. */
int schema_lend(struct db *db);

/*
 * Our own view of that name, for this connection: a file's own are never run. For statements that
 * read a view.
 */
int schema_view(struct db *db, const char *name);

/* The same for all; calls `view` with the name of each that is a promise. */
int schema_each_view(struct db *db, int (*view)(const char *name, void *context), void *context);
