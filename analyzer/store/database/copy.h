/* SPDX-License-Identifier: Apache-2.0 */
/* copy.h - copies files, and makes private copies of databases. */
#pragma once

#include <stddef.h>

int copy_bytes(int from, int to);

/* Only its owner may read the new file. -EEXIST: `to` exists. */
int copy_file(const char *from, const char *to);

/* Also copies the -wal, even while another process writes. `copy` appears when complete. */
int copy_database(const char *path, const char *copy);
#define COPY_PART ".part"

/* Copies into a new folder, which copy_remove() removes. */
int copy_aside(const char *path, char *ret, size_t size);
void copy_remove(const char *path);
