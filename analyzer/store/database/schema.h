/* SPDX-License-Identifier: Apache-2.0 */
/* schema.h - makes or upgrades the tables and views of schema.sql, or lends them to a reader. */
#pragma once

#include <stdint.h>

#include "store/database/handle.h"

int schema_create(struct db *db);

/* Upgrades a database of an older `version` to DB_SCHEMA_VERSION. */
int schema_upgrade(struct db *db, int64_t version);

/* Adds what an older database lacks: to the file or, if `is_lent`, for this connection only. */
int schema_complete(struct db *db, bool is_lent);

/* Makes a view of schema.sql for this connection. Views that are in the file never run. */
int schema_view(struct db *db, const char *name);

/* Makes all views of schema.sql, and calls `view` with the name of each one that is public. */
int schema_each_view(struct db *db, int (*view)(const char *name, void *context), void *context);
