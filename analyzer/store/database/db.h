/* SPDX-License-Identifier: Apache-2.0 */
/*
 * db.h - transactions and errors of an open database (db_open.h). Functions return 0 or a negative
 * errno, which db_error() explains to the user.
 */
#pragma once

#define DB_APPLICATION_ID 0x646C7072	/* "dlpr" */
#define DB_SCHEMA_VERSION 14

struct db;

int db_begin(struct db *db);

/* Begins a transaction when a writer (write.h) writes a row; costs nothing without rows. */
void db_begin_late(struct db *db);

int db_commit(struct db *db);
int db_rollback(struct db *db);

/* Returns an error as words for a person, like "not a dlprof database". Never NULL. */
const char *db_error(int error);
