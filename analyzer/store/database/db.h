/* SPDX-License-Identifier: Apache-2.0 */
/* db.h - transactions and errors of an open database. Functions return 0 or -errno. */
#pragma once

#define DB_APPLICATION_ID 0x646C7072	/* "dlpr" */
#define DB_SCHEMA_VERSION 14

struct db;

int db_begin(struct db *db);

/* Begins a transaction when a row is written; costs nothing without rows. */
void db_begin_late(struct db *db);

int db_commit(struct db *db);
int db_rollback(struct db *db);

/* Returns words like "not a dlprof database", never NULL. */
const char *db_error(int error);
