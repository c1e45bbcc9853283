/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.h - the runs that a command recorded: each adds itself to the file that DLPROF_RUNS names.
 */
#pragma once

#include <limits.h>
#include <stddef.h>

#include "launch/preload.h"

struct runs {
	char list[PATH_MAX];
};

/* Returns 0, or -errno: then there is only the line at exit. */
int runs_begin(struct runs *runs);

/* Waits until all runs are stored. Prints nothing if nothing was recorded. */
void runs_report(struct runs *runs);

/* Runs dlprof-report with all output on descriptor `output`. Returns its exit status, or -errno. */
int runs_show(const struct trust_search *program, char *const argv[], int output);

/* Returns the time left in ms. */
int runs_wait_stored(const char *folder, int most_ms);

/* Waits until all are stored. Returns their number, and the first one's database, or "". */
int runs_take(struct runs *runs, char *ret, size_t size);

void runs_drop(struct runs *runs);
