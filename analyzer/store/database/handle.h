/* SPDX-License-Identifier: Apache-2.0 */
/* handle.h - the inside of struct db, for the files of this folder. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "store/database/db.h"

struct sqlite3;

struct db {
	struct sqlite3 *handle;
	uint64_t until_ns;  /* limit of the process's CPU time, set by guard.h; 0: none */
	int64_t most_bytes; /* limit of the process's memory */
	double share;       /* the file's limits, as a multiple of those of a file of common size */
	bool writes;
	bool begins_late; /* a transaction was asked for and begins with the first row */
};

/* Runs one or more SQL statements. Returns 0 or -errno. */
int db_run(struct db *db, const char *sql);

/* Turns SQLite's result code into a negative errno. */
int db_errno(int sqlite_result);

/* Sets the error that interrupted statements return from now on: -ETIME or -ENOBUFS. */
void db_interrupt(int error);
