/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust.h - decides which files and folders are dlprof's own: no others are read or changed.
 *
 * Whoever may write beside a database could put a link there. So only what belongs to the caller or
 * root, with dlprof's name, type and mode, is accepted. An open file is checked again. Functions
 * return a descriptor, or -errno; -EPERM: not ours.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#define TRUST_DATABASE "run.db"

/* Returns true for a name "PID-TIME-N[-M].seg". */
bool trust_is_segment_name(const char *name);

/* Returns true for TRUST_DATABASE, and for SQLite's files beside it. */
bool trust_is_database_name(const char *name);

/* Returns true for a file of the caller or root. If root is the caller, only root's files count. */
bool trust_is_own(const struct stat *status);

/* Opens a run's folder. `name` must have the form of its name. */
int trust_open_folder(int parent, const char *name);

/* Opens a file, and never blocks, whatever kind of file it is. */
int trust_open_file(int folder, const char *name, int flags);

bool trust_is_unfinished(int folder, const char *name);
