/* SPDX-License-Identifier: Apache-2.0 */
/* handle.h - what an open database is: for the files of this folder, which all stand on it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "store/database/db.h"

struct sqlite3;

struct db {
	struct sqlite3 *handle;
	uint64_t until_ns;  /* guard.h: of the process's CPU time; 0: without a limit */
	int64_t most_bytes; /* ... of its memory */
	double share;       /* ... of what a file of common size is allowed */
	bool writes;
	bool begins_late; /* the transaction: a writer begins it */
};

/* One statement, or several. */
int db_run(struct db *db, const char *sql);

/* SQLite's result code as a negative errno. */
int db_errno(int sqlite_result);

/* Why statements are interrupted from now on: -ETIME or -ENOBUFS. */
void db_interrupt(int error);
