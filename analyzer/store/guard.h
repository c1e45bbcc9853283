/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - a database may be anybody's, and made to do harm: what SQLite does for it is limited.
 *
 * None of its views and triggers run, no virtual table and no generated column is read, and a
 * statement ends when the process has used more time or memory than a file of its size can need.
 * What remains open: a file that is just below the limits costs what they allow.
 */
#ifndef GUARD_H
#define GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct sqlite3;

struct guard {
	uint64_t until_ns;	/* of the process's CPU time */
	int64_t most_bytes;	/* of its memory */
};

/* Before the first statement. 0 or -errno. */
int guard_settings(struct sqlite3 *handle);

/* From now on; `guard` must outlive the handle. */
void guard_limit(struct guard *guard, struct sqlite3 *handle, const struct stat *file);

/* What is opened next gets its full time, whatever was opened before. */
void guard_anew(void);

/* For many short statements: none of them is interrupted. guard_error() says why. */
bool guard_is_spent(const struct guard *guard);

/* -EBADMSG: what the file calls a table is none. */
int guard_check_read(struct sqlite3 *handle);

/* ... or to write into it would run what somebody else wrote. */
int guard_check_write(struct sqlite3 *handle);

/* Why a statement was interrupted last: -ETIME or -ENOBUFS. */
int guard_error(void);

#endif
