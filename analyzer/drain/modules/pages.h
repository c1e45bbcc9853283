/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.h - reads words at scattered places of files through a small page cache, as many are read
 * again.
 *
 * Files are read with pread(): if one is truncated meanwhile, that returns an error, where a
 * mapping would raise SIGBUS.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file that maps_open() opens; another file that took its path is not read. */
struct pages_file {
	const char *path;
	uint64_t device, inode;
};

bool pages_read(const struct pages_file *of, uint64_t offset, void *bytes, size_t size);

/* Returns a number that identifies a file. */
uint64_t pages_id(uint64_t device, uint64_t inode);

/* Closes the file that was opened last. */
void pages_rest(void);
