/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.h - reads words of files, here and there and soon again, through a few kept pages.
 *
 * Files are read with pread(): one that is cut short meanwhile is an error and no SIGBUS.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file as maps_open() names it; another file that takes its path is not read instead. */
struct pages_file {
	const char *path;
	uint64_t device, inode;
};

bool pages_read(const struct pages_file *of, uint64_t offset, void *bytes, size_t size);

/* A number that tells files apart. */
uint64_t pages_id(uint64_t device, uint64_t inode);

/* Closes the file that was opened last. */
void pages_rest(void);
