/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.h - reads words of files at scattered places, many of them again, through a small page
 * cache.
 *
 * Files are read with pread(): for a file that is truncated meanwhile it returns an error, where a
 * mapping would raise SIGBUS.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file for maps_open(): another file that takes its path is not read instead. */
struct pages_file {
	const char *path;
	uint64_t device, inode;
};

bool pages_read(const struct pages_file *of, uint64_t offset, void *bytes, size_t size);

/* Returns a number that identifies a file. */
uint64_t pages_id(uint64_t device, uint64_t inode);

/* Closes the file that was opened last. */
void pages_rest(void);
