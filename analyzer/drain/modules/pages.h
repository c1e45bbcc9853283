/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.h - bytes of files that are read in words, here and there, and soon again. A few pages
 * stay.
 *
 * By pread(): a file that is cut short under our hands is an error and no SIGBUS.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As maps_open() wants it: another file that takes its path is not read in its place. */
struct pages_file {
	const char *path;
	uint64_t device, inode;
};

bool pages_read(const struct pages_file *of, uint64_t offset, void *bytes, size_t size);

/* Tells files apart. */
uint64_t pages_id(uint64_t device, uint64_t inode);

/* Closes the file that was opened last. */
void pages_rest(void);
