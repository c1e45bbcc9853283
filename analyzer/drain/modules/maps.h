/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maps.h - the files that a process has mapped, from /proc.
 *
 * A training has thousands of mappings, and listing them takes a millisecond, so it is done rarely.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct maps_line {
	uint64_t begin, end, offset;
	uint64_t device, inode; /* enough to tell files apart */
	bool is_code;           /* executable and not writable */
	const char *path;       /* begins with '/' */
};

/*
 * Calls `take` for every mapping of a file, by address; a result that is not 0 ends it and is
 * returned. -errno: the process is gone, or we may not look at it.
 */
int maps_each(int32_t pid, int (*take)(void *context, const struct maps_line *line), void *context);

/*
 * Opens the file of a mapping to read, if `path` still names it. Another thing of that name is not
 * opened: with a pipe or device that would wait, or do something. A descriptor or -errno.
 */
int maps_open(const char *path, uint64_t device, uint64_t inode);

/* The device as maps_line has it. */
uint64_t maps_device(dev_t device);

/*
 * A number that changes with the code that the process has mapped; much cheaper than listing it. 0:
 * not known.
 */
uint64_t maps_state(int32_t pid);

/*
 * Like maps_state(), but different for each start of a program: only a forked process has its code
 * at the same addresses. 0: not known.
 */
uint64_t maps_image(int32_t pid);
