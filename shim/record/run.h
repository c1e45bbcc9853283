/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - the run that this process records into: started by it, or joined.
 *
 * A run is a database, a folder of segments and a drain between them. The link
 * "DATABASE-segments" leads from the one to the other, so that dlprof-report can finish what a
 * killed drain left. Children learn of the run from DLPROF_RUN, and from DLPROF_LIFE the program
 * that the process which began it becomes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* Joins the run named by the environment, or starts one. 0, or -errno with the reason in `why`. */
int run_begin(struct text *why);

/* In a forked child of a recording process: joins its parent's run. */
int run_rejoin(struct text *why);

/* Once per batch: starts the drain again if it was killed. Costs one load in most calls. */
void run_watch(uint64_t now_ns);

enum run_state {
	RUN_STORED,	/* at its place, as far as is known */
	RUN_RENAMED,	/* under the name `where` */
	RUN_KEPT,	/* in the folder `where`, because of `error` */
	RUN_ALONE,	/* no drain could be started */
	RUN_IN_RINGS,	/* not all of it; `error`: 0 where no drain is at work */
};

/* Where the records are, by what the drain last reported. */
enum run_state run_state(uint64_t now_ns, const char **ret_where, int *ret_error);

/*
 * The database's path if this process started the run, in this program or in one before, else NULL
 * (also in forked children).
 */
const char *run_database(void);

/* `dlprof run` waits for the end of this run and prints its report. */
bool run_is_reported(void);
