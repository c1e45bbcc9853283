/* SPDX-License-Identifier: Apache-2.0 */
/*
 * db.h - an open database (db_open.h): transactions, and what went wrong. Functions return 0 or a
 * negative errno, which db_error() words for the user.
 */
#pragma once

#define DB_APPLICATION_ID 0x646C7072	/* "dlpr" */
#define DB_SCHEMA_VERSION 12

struct db;

int db_begin(struct db *db);

/* Begins the transaction with a writer's (write.h) first row; without one its end costs nothing. */
void db_begin_late(struct db *db);

int db_commit(struct db *db);
int db_rollback(struct db *db);

/* An error in words for a person: "not a dlprof database". Never NULL. */
const char *db_error(int error);
