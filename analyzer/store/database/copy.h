/* SPDX-License-Identifier: Apache-2.0 */
/* copy.h - copies files, and makes private copies of databases. Functions return 0 or -errno. */
#pragma once

#include <stddef.h>

/* Copies all bytes from the position of descriptor `from` to that of `to`. */
int copy_bytes(int from, int to);

/* Copies `from` to a new file that only its owner may read. -EEXIST: `to` exists. */
int copy_file(const char *from, const char *to);

/*
 * Copies a database and its -wal, if it has one, even while another process writes to it. If the
 * file `copy` exists, it is replaced. The file appears under that name only when it is complete.
 */
int copy_database(const char *path, const char *copy);
#define COPY_PART ".part"	/* end of the name of an unfinished copy */

/*
 * Copies a database and its -wal, if any, into a new folder that only this user may enter; `ret`
 * gets the copy's path. copy_remove() removes copy and folder, even while they are open.
 */
int copy_aside(const char *path, char *ret, size_t size);
void copy_remove(const char *path);
