/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.h - the runs that a command recorded. Each adds an entry to the file that DLPROF_RUNS names.
 */
#pragma once

#include <limits.h>
#include <stddef.h>

#include "launch/preload.h"

struct runs {
	char list[PATH_MAX];
};

/* Makes the file. Returns 0 or -errno; then only what the library prints at exit names a run. */
int runs_begin(struct runs *runs);

/* Waits until all runs are stored, and prints their report, if anything was recorded. */
void runs_report(struct runs *runs);

/* Runs dlprof-report with all output on descriptor `output`. Returns its exit status, or -errno. */
int runs_show(const struct trust_search *program, char *const argv[], int output);

/* Waits at most `most_ms` until a run is stored. Returns what is left of that time. */
int runs_wait_stored(const char *folder, int most_ms);

/* Waits until all runs are stored, and calls `each` for each database. */
void runs_take(struct runs *runs, void (*each)(const char *database, void *context), void *context);

void runs_drop(struct runs *runs);
