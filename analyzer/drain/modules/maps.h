/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maps.h - lists the files that a process has mapped, from /proc.
 *
 * A training has thousands of mappings, and listing them takes a millisecond: do it rarely.
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
 * Calls `take` for every mapping of a file, by address; a result that is not 0 ends the listing and
 * is returned. Returns -errno if the process is gone or may not be read.
 */
int maps_each(int32_t pid, int (*take)(void *context, const struct maps_line *line), void *context);

/*
 * Opens the file of a mapping for reading, if `path` still names it. Anything else of that name is
 * not opened: opening a pipe or a device could wait or have effects. Returns a descriptor or
 * -errno.
 */
int maps_open(const char *path, uint64_t device, uint64_t inode);

/* Returns a device number in the form of struct maps_line. */
uint64_t maps_device(dev_t device);

/*
 * Returns a number that changes with the code that the process has mapped; much cheaper than
 * listing the mappings. 0: not known.
 */
uint64_t maps_state(int32_t pid);

/*
 * Returns a number like maps_state() that also differs for each start of a program: only forked
 * processes share it, having their code at the same addresses. 0: not known.
 */
uint64_t maps_image(int32_t pid);
