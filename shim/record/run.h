/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - the run that this process records into; the process started or joined it.
 *
 * A run is a database, a folder of segments and a drain between them. The link "DATABASE-segments"
 * leads from the database to the folder, so that dlprof-report can finish what a killed drain left.
 * Children find the run by DLPROF_RUN; after an execve() the first process finds it by DLPROF_LIFE.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* Joins the run that the environment names, or starts one. Returns 0, or -errno and the reason. */
int run_begin(struct text *why);

/* Joins the parent's run, in a forked child of a recording process. */
int run_rejoin(struct text *why);

/* Starts the drain again if it was killed. Called for each batch; mostly costs one load. */
void run_watch(uint64_t now_ns);

enum run_state {
	RUN_STORED,	/* in the intended database, as far as is known */
	RUN_RENAMED,	/* in another database, `where` */
	RUN_KEPT,	/* in a database in folder `where`, because of `error` */
	RUN_ALONE,	/* in the rings: no drain could be started */
	RUN_IN_RINGS,	/* partly still in the rings; `error` 0: no drain is running */
};

/* Returns where the records are, by the drain's last report to us. */
enum run_state run_state(uint64_t now_ns, const char **ret_where, int *ret_error);

/*
 * Returns the path of the database if this process, in any of its lives, started the run; else
 * NULL, also in forked children.
 */
const char *run_database(void);

/* Returns true if `dlprof run` waits for the end of this run to print its report. */
bool run_is_reported(void);
