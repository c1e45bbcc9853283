/* SPDX-License-Identifier: Apache-2.0 */
/* db.h - transactions, limits and errors of an open database. Functions return 0 or -errno. */
#pragma once

#define DB_APPLICATION_ID 0x646C7072	/* the letters "dlpr" */
#define DB_SCHEMA_VERSION 16

struct db;

int db_begin(struct db *db);

/* The first row that is written begins a transaction. Without rows, db_commit() does nothing. */
void db_begin_late(struct db *db);

int db_commit(struct db *db);
int db_rollback(struct db *db);

/* Begins the limit on CPU time of `db` anew, because other databases were read meanwhile. */
void db_limit_renew(struct db *db);

/* Returns an error in words, such as "permission denied"; never NULL. */
const char *db_error(int error);
