/* SPDX-License-Identifier: Apache-2.0 */
/* pages.h - reads words that are scattered over a file, through a small cache of pages. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* If the file at `path` has another device or inode, nothing is read. */
struct pages_file {
	const char *path;
	uint64_t device, inode;
};

bool pages_read(const struct pages_file *of, uint64_t offset, void *bytes, size_t size);

uint64_t pages_id(uint64_t device, uint64_t inode);

void pages_rest(void);
