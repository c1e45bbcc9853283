/* SPDX-License-Identifier: Apache-2.0 */
/* copy.h - files copied byte by byte, and a private copy of a database that cannot be read where
 * it is. Functions return 0 or a negative errno. */
#pragma once

#include <stddef.h>

/* Copies all bytes from the descriptor's position to the other's. */
int copy_bytes(int from, int to);

/* Copies to a new file that only its owner may read. -EEXIST: there is one. */
int copy_file(const char *from, const char *to);

/*
 * Copies a database with its -wal, if it has one, also while somebody writes into it. A file named
 * `copy` is replaced; it is whole or not there.
 */
int copy_database(const char *path, const char *copy);
#define COPY_PART ".part"	/* end of the name while a copy is under way */

/*
 * Copies the database, with its -wal if it has one, into a new folder that only we may enter; `ret`
 * is the copy's path. copy_remove() removes copy and folder, also while they are open.
 */
int copy_aside(const char *path, char *ret, size_t size);
void copy_remove(const char *path);
