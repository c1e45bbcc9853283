/* SPDX-License-Identifier: Apache-2.0 */
/* copy.h - files copied byte by byte, and a private copy of a database that cannot be read where
 * it is. Functions return 0 or a negative errno. */
#pragma once

#include <stddef.h>

/* All of it, from where both stand. */
int copy_bytes(int from, int to);

/* To a new file that only its owner may read. -EEXIST: there is one. */
int copy_file(const char *from, const char *to);

/*
 * A database with its -wal, if it has one, also while somebody writes into it. What `copy` names is
 * replaced, and is whole or not there.
 */
int copy_database(const char *path, const char *copy);
#define COPY_PART ".part"	/* behind the name of a copy under way */

/*
 * The database with its -wal, where it has one, into a new folder that only we may enter; `ret` is
 * its path there. copy_remove() removes both, also while they are open.
 */
int copy_aside(const char *path, char *ret, size_t size);
void copy_remove(const char *path);
