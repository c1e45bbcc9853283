/* SPDX-License-Identifier: Apache-2.0 */
/* copy.h - copies files, and makes private copies of databases. */
#pragma once

#include <stddef.h>

int copy_bytes(int from, int to);

/* Copies a file. Only the owner may read the copy. -EEXIST: `to` exists already. */
int copy_file(const char *from, const char *to);

/* Copies a database and its -wal, even if it is being written. `copy` appears when complete. */
int copy_database(const char *path, const char *copy);
#define COPY_PART ".part"

/* Removes the files that SQLite makes beside a database. */
void copy_remove_beside(const char *path);

/* Copies a database into a new temporary folder. copy_remove(copy) removes copy and folder. */
int copy_aside(const char *path, char *ret, size_t size);
void copy_remove(const char *path);
