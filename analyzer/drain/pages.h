/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.h - bytes of files that are read in words, here and there, and soon again. A few pages
 * stay.
 *
 * By pread(): a file that is cut short under our hands is an error and no SIGBUS.
 */
#ifndef PAGES_H
#define PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `id` tells the file from all others, also from one that takes its path. */
bool pages_read(const char *path, uint64_t id, uint64_t offset, void *bytes, size_t size);

/* Closes the file that was opened last. */
void pages_rest(void);

#endif
