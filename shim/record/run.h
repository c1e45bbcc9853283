/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - the run that this process records into: a database, a folder of segments, and a drain.
 *
 * Children find the run by DLPROF_RUN, the program after an execve() by DLPROF_LIFE.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* Joins the run that the environment names, or starts a run. Returns 0, or -errno and a reason. */
int run_begin(struct text *why);

int run_rejoin(struct text *why);

/* Starts the drain again if it was killed. Called for each batch; mostly it only reads a number. */
void run_watch(uint64_t now_ns);

enum run_state {
	RUN_STORED,	/* all records are in the database, as far as known */
	RUN_RENAMED,	/* all records are in another database: *ret_where */
	RUN_KEPT,	/* all records are in folder *ret_where, because of *ret_error */
	RUN_ALONE,	/* all records are in the rings: no drain could be started */
	RUN_IN_RINGS,	/* some records are only in the rings; *ret_error 0: no drain is running */
};

/* Returns where the records are, as the drain last reported. */
enum run_state run_state(uint64_t now_ns, const char **ret_where, int *ret_error);

/* Returns the database's path if this process, in any of its programs, started the run; or NULL. */
const char *run_database(void);

bool run_is_reported(void);
