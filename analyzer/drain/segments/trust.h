/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trust.h - decides which files and folders are dlprof's: no others are read or changed.
 *
 * Whoever may write beside a database could put a link there. So a file or folder is accepted only
 * if it belongs to the caller or root, and has dlprof's name, type and mode. An open file is
 * checked again. Functions return a descriptor, or -errno; -EPERM: not dlprof's.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#define TRUST_DATABASE "run.db"

/* Returns true for a name of the form "PID-TIME-N[-M].seg". */
bool trust_is_segment_name(const char *name);

/* Returns true for TRUST_DATABASE, or one of SQLite's files beside it. */
bool trust_is_database_name(const char *name);

/* Returns true if the caller or root owns the file. If the caller is root, only root may own it. */
bool trust_is_own(const struct stat *status);

/* Opens a run's folder. `name` must have the form of a folder's name. */
int trust_open_folder(int parent, const char *name);

/* Opens a file of any kind without blocking. */
int trust_open_file(int folder, const char *name, int flags);

bool trust_is_unfinished(int folder, const char *name);
