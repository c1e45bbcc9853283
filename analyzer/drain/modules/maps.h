/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maps.h - lists the files that a process has mapped, from /proc.
 *
 * A training has thousands of mappings, so listing them takes a millisecond: do it rarely.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct maps_line {
	uint64_t begin, end, offset;
	uint64_t device, inode; /* together they identify a file */
	bool is_code;           /* executable and not writable */
	const char *path;       /* begins with '/' */
};

/*
 * Calls `take` for every mapping of a file, by address. If `take` returns anything but 0,
 * maps_each() ends and returns that. Returns -errno if the process is gone or must not be read.
 */
int maps_each(int32_t pid, int (*take)(void *context, const struct maps_line *line), void *context);

/*
 * Opens a mapped file for reading, if `path` still names that file. Anything else is not opened:
 * opening a pipe or a device could wait or have effects. Returns a descriptor or -errno.
 */
int maps_open(const char *path, uint64_t device, uint64_t inode);

/* Returns a device number as struct maps_line has it. */
uint64_t maps_device(dev_t device);

/*
 * Returns a number that changes when the process maps other code, or 0 if it is unknown. That is
 * much cheaper than listing the mappings.
 */
uint64_t maps_state(int32_t pid);

/*
 * Returns a number like maps_state() that also differs for each start of a program: only processes
 * that were forked from each other have the same one, as their code lies at the same addresses.
 * Returns 0 if it is unknown.
 */
uint64_t maps_image(int32_t pid);
