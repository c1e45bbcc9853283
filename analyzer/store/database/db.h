/* SPDX-License-Identifier: Apache-2.0 */
/* db.h - transactions and errors of an open database. Functions return 0 or -errno. */
#pragma once

#define DB_APPLICATION_ID 0x646C7072	/* the letters "dlpr" */
#define DB_SCHEMA_VERSION 16

struct db;

int db_begin(struct db *db);

/* Begins a transaction as soon as a row is written; without rows, db_commit() does nothing. */
void db_begin_late(struct db *db);

int db_commit(struct db *db);
int db_rollback(struct db *db);

/* Says an error in words such as "permission denied". Never returns NULL. */
const char *db_error(int error);
