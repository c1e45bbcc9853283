/* SPDX-License-Identifier: Apache-2.0 */
/* maps.h - lists the files that a process has mapped, which takes about a millisecond. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct maps_line {
	uint64_t begin, end, offset;
	uint64_t device, inode;
	bool is_code;     /* executable and not writable */
	const char *path; /* begins with '/' */
};

/* Calls `take` for each mapped file until it returns other than 0. -errno: gone or forbidden. */
int maps_each(int32_t pid, int (*take)(void *context, const struct maps_line *line), void *context);

/* Opens a mapped file if it is a regular one: opening a pipe or device could block, or do harm. */
int maps_open(const char *path, uint64_t device, uint64_t inode);

uint64_t maps_device(dev_t device);

/* Returns a number that changes when the process maps other code; 0: unknown. */
uint64_t maps_state(int32_t pid);

/* Like maps_state(), but processes have the same number only if fork() alone made them from one. */
uint64_t maps_image(int32_t pid);
