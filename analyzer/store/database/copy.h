/* SPDX-License-Identifier: Apache-2.0 */
/* copy.h - copies files, and makes private copies of databases. Returns 0 or a negative errno. */
#pragma once

#include <stddef.h>

/* Copies all bytes from the position of descriptor `from` to that of `to`. */
int copy_bytes(int from, int to);

/* Copies `from` to a new file that only its owner may read. -EEXIST: `to` exists. */
int copy_file(const char *from, const char *to);

/*
 * Copies a database and its -wal, if there is one, even while another process writes to it. An
 * earlier file `copy` is replaced; the new one appears only when it is whole.
 */
int copy_database(const char *path, const char *copy);
#define COPY_PART ".part"	/* end of the name of an unfinished copy */

/*
 * Copies a database and its -wal, if there is one, to a new folder that only we may enter; `ret`
 * gets the copy's path. copy_remove() removes copy and folder, also while they are open.
 */
int copy_aside(const char *path, char *ret, size_t size);
void copy_remove(const char *path);
