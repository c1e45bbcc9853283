/* SPDX-License-Identifier: Apache-2.0 */
/* handle.h - the inside of an open database, for the files of this folder. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "store/database/db.h"

struct sqlite3;

struct db {
	struct sqlite3 *handle;
	uint64_t until_ns;  /* limit of the process's CPU time, by guard.h; 0: none */
	int64_t most_bytes; /* limit of its memory */
	double share;       /* limits over those of a file of common size */
	bool writes;
	bool begins_late; /* the transaction has yet to begin: a writer begins it */
};

/* Runs one statement, or several. */
int db_run(struct db *db, const char *sql);

/* Turns SQLite's result code into a negative errno. */
int db_errno(int sqlite_result);

/* Says why statements are interrupted from now on: -ETIME or -ENOBUFS. */
void db_interrupt(int error);
