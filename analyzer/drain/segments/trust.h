/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust.h - finds which files and folders are dlprof's own: no others are read or changed.
 *
 * Whoever may write beside a database may put a link there that leads anywhere. So a link, a folder
 * and each file count only if they belong to the caller or to root and are as dlprof makes them, by
 * name, type and mode; files are checked again once they are open. Functions return a descriptor or
 * -errno, and -EPERM for what is not ours.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#define TRUST_DATABASE "run.db" /* name of the database in the folder of segments */

/* Whether a name is "PID-TIME-N[-M].seg". */
bool trust_is_segment_name(const char *name);

/* Whether a name is that of a database in its folder (home.h), or of SQLite's files beside it. */
bool trust_is_database_name(const char *name);

/* Whether a file belongs to the caller or to root. For root, no other user's file counts. */
bool trust_is_own(const struct stat *status);

/* Opens the folder `name` in the folder `parent`, if that is the name of a run's folder. */
int trust_open_folder(int parent, const char *name);

/* Opens a file for reading or writing. Never blocks, whatever the file is. */
int trust_open_file(int folder, const char *name, int flags);

/* Whether `name` is a segment that its process has not finished. */
bool trust_is_unfinished(int folder, const char *name);
