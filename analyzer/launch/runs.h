/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.h - the runs that a command recorded. Each adds an entry to the file that DLPROF_RUNS names.
 */
#pragma once

#include <limits.h>

#include "launch/preload.h"

struct runs {
	char list[PATH_MAX];
};

/* Makes the list's file. -errno: only the line that the library prints at exit names the runs. */
int runs_begin(struct runs *runs);

/* Waits until all runs are stored. If something was recorded, prints the report. */
void runs_report(struct runs *runs);

/* Runs dlprof-report with its output on descriptor `output`. Returns its exit status or -errno. */
int runs_show(const struct trust_search *program, char *const argv[], int output);

/* Waits until a run is stored, for at most `most_ms`. Returns what is left of this time. */
int runs_wait_stored(const char *folder, int most_ms);

/* Waits until all runs are stored, and calls `each` with each database. */
void runs_take(struct runs *runs, void (*each)(const char *database, void *context), void *context);

void runs_drop(struct runs *runs);
