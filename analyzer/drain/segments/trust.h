/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust.h - which files and folders are dlprof's own: all others are neither read nor touched.
 *
 * Whoever may write beside a database may put a link there that leads anywhere. So a link, a folder
 * and each file count only if they belong to the caller or to root and are as dlprof makes them, by
 * name, kind and mode; the opened file itself is asked. Functions return a descriptor or -errno,
 * -EPERM for what is not ours.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#define TRUST_DATABASE "run.db" /* its name in the folder of segments */

/* Whether a name is "PID-TIME-N[-M].seg". */
bool trust_is_segment_name(const char *name);

/* Whether it is "run.db", or a file that SQLite puts beside it, away from its place (home.h). */
bool trust_is_database_name(const char *name);

/* Whether it belongs to the caller or to root. For root, no other user's file counts. */
bool trust_is_own(const struct stat *status);

/* Opens the folder `name` in the folder `parent`, if that is a run's name. */
int trust_open_folder(int parent, const char *name);

/* Opens a file to read or to write. Never waits, whatever the file is. */
int trust_open_file(int folder, const char *name, int flags);

/* Whether `name` is a segment that its process left unfinished. */
bool trust_is_unfinished(int folder, const char *name);
