/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.h - the runs that a command recorded, and their report. Each run adds itself to the list
 * file that DLPROF_RUNS names.
 */
#pragma once

#include <limits.h>
#include <stddef.h>

#include "launch/preload.h"

struct runs {
	char list[PATH_MAX]; /* path of the list file, which runs_begin() makes */
};

/* Makes the list file. Returns 0, or -errno: then there is no report, only the line at exit. */
int runs_begin(struct runs *runs);

/*
 * Waits until all runs are stored, and prints the report on standard error; prints nothing if
 * nothing was recorded.
 */
void runs_report(struct runs *runs);

/*
 * Runs dlprof-report at program->path, with output and errors on descriptor `output`. Returns its
 * exit status, or -errno.
 */
int runs_show(const struct trust_search *program, char *const argv[], int output);

/* Waits until the drain has removed `folder`, when all is stored. Returns the time left in ms. */
int runs_wait_stored(const char *folder, int most_ms);

/* Waits until all runs are stored. Returns their number, and the first one's database, or "". */
int runs_take(struct runs *runs, char *ret, size_t size);

/* Removes the list file without a report. */
void runs_drop(struct runs *runs);
