/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.h - the runs that a command recorded, and their report. Each run adds itself to the file
 * that DLPROF_RUNS names.
 */
#pragma once

#include <limits.h>
#include <stddef.h>

#include "launch/preload.h"

struct runs {
	char list[PATH_MAX]; /* path of that file, which runs_begin() makes */
};

/* Makes the file. Returns 0 or -errno: there is no report, but the library's line at exit. */
int runs_begin(struct runs *runs);

/*
 * Waits until all records are stored, and prints the report on standard error. Prints nothing if
 * nothing was recorded.
 */
void runs_report(struct runs *runs);

/*
 * Runs dlprof-report at program->path, with output and errors on descriptor `output`. Returns its
 * exit status, or -errno.
 */
int runs_show(const struct trust_search *program, char *const argv[], int output);

/* Waits until the drain has removed `folder`, so all is stored. Returns the time left in ms. */
int runs_wait_stored(const char *folder, int most_ms);

/*
 * Waits until all records are stored. Returns the number of runs, and the database of the first;
 * "": there is none.
 */
int runs_take(struct runs *runs, char *ret, size_t size);

/* Removes the file without a report. */
void runs_drop(struct runs *runs);
