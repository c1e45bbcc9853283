/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust.h - which files and folders are dlprof's own: all others are neither read nor touched.
 *
 * Whoever may write beside a database may have put a link there that leads anywhere. So a link, a
 * folder and each file count only if they belong to the caller or to root and are as dlprof makes
 * them, by name, kind and mode; what they are is asked of the file that was opened. Functions
 * return a descriptor or -errno, -EPERM for what is not ours.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#define TRUST_DATABASE "run.db" /* in the folder of segments */

/* "PID-TIME-N[-M].seg" */
bool trust_is_segment_name(const char *name);

/* "run.db" and what SQLite puts beside it: a run that is not at its place (home.h). */
bool trust_is_database_name(const char *name);

/* Of the caller or of root. To root no other user's is. */
bool trust_is_own(const struct stat *status);

/* The folder `name` in the folder `parent`, if that is the name of a run's. */
int trust_open_folder(int parent, const char *name);

/* A file of `name`, to read or to write. Never waits, whatever it is. */
int trust_open_file(int folder, const char *name, int flags);

/* Whether `name` is a segment that its process died before finishing. */
bool trust_is_unfinished(int folder, const char *name);
