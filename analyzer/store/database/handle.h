/* SPDX-License-Identifier: Apache-2.0 */
/* handle.h - the members of struct db, for the files of this folder. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "store/database/db.h"

struct sqlite3;

struct db {
	struct sqlite3 *handle;
	uint64_t until_ns; /* limit on the process's CPU time, set by guard.h; 0: none */
	int64_t most_bytes;
	double share; /* factor of both limits above, over 1 for a large file */
	bool writes;
	bool begins_late; /* the next row to be written begins a transaction */
};

int db_run(struct db *db, const char *sql);

int db_errno(int sqlite_result);

/* Sets what interrupted statements return from now on: -ETIME or -ENOBUFS. */
void db_interrupt(int error);
