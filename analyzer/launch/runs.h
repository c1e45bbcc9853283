/* SPDX-License-Identifier: Apache-2.0 */
/* runs.h - which runs a command recorded, and their report: DLPROF_RUNS names a file they enter. */
#pragma once

#include <limits.h>
#include <stddef.h>

#include "launch/preload.h"

struct runs {
	char list[PATH_MAX]; /* made by runs_begin() */
};

/* 0 or -errno: then there will be no report, and the line at exit stays. */
int runs_begin(struct runs *runs);

/*
 * Waits until what was recorded is stored and prints the report on standard error. Nothing where
 * nothing was recorded.
 */
void runs_report(struct runs *runs);

/*
 * Runs the dlprof-report at program->path, whose output and errors go to descriptor `output`. Its
 * exit status, or -errno.
 */
int runs_show(const struct trust_search *program, char *const argv[], int output);

/*
 * Waits until the drain has removed this folder of segments: all is stored. Returns what is left of
 * the time.
 */
int runs_wait_stored(const char *folder, int most_ms);

/*
 * Waits until what was recorded is stored. Returns how many runs there are, and the database of the
 * first; "": there is none.
 */
int runs_take(struct runs *runs, char *ret, size_t size);

/* Without a report. */
void runs_drop(struct runs *runs);
