/* SPDX-License-Identifier: Apache-2.0 */
/* schema.h - makes or upgrades tables and views of schema.sql, or lends them to a reader. */
#pragma once

#include <stdint.h>

#include "store/database/handle.h"

int schema_create(struct db *db);

/* Upgrades a database of an older `version` to DB_SCHEMA_VERSION. */
int schema_upgrade(struct db *db, int64_t version);

/* Adds, for this connection only, the tables that an older database lacks; they have no rows. */
int schema_lend(struct db *db);

/* Makes the view `name` of schema.sql for this connection: views in the file are never run. */
int schema_view(struct db *db, const char *name);

/* Makes all views of schema.sql, and calls `view` with the name of each public one. */
int schema_each_view(struct db *db, int (*view)(const char *name, void *context), void *context);
