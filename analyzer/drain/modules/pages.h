/* SPDX-License-Identifier: Apache-2.0 */
/* pages.h - reads words at scattered places of files through a small page cache. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file at the same path with another device or inode is not read. */
struct pages_file {
	const char *path;
	uint64_t device, inode;
};

bool pages_read(const struct pages_file *of, uint64_t offset, void *bytes, size_t size);

uint64_t pages_id(uint64_t device, uint64_t inode);

void pages_rest(void);
