/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.h - the runs that a command recorded, and their report. DLPROF_RUNS names a file in which
 * runs enter themselves.
 */
#pragma once

#include <limits.h>
#include <stddef.h>

#include "launch/preload.h"

struct runs {
	char list[PATH_MAX]; /* the file, made by runs_begin() */
};

/* 0 or -errno: there will be no report, and the line at exit stays. */
int runs_begin(struct runs *runs);

/*
 * Waits until what was recorded is stored, and prints the report on standard error. Prints nothing
 * if nothing was recorded.
 */
void runs_report(struct runs *runs);

/*
 * Runs dlprof-report at program->path, with output and errors on descriptor `output`. Its exit
 * status, or -errno.
 */
int runs_show(const struct trust_search *program, char *const argv[], int output);

/* Waits until the drain has removed this folder, so that all is stored. Returns the time left. */
int runs_wait_stored(const char *folder, int most_ms);

/*
 * Waits until what was recorded is stored. Returns how many runs there are, and the database of the
 * first; "": there is none.
 */
int runs_take(struct runs *runs, char *ret, size_t size);

/* Removes the list without a report. */
void runs_drop(struct runs *runs);
