/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maps.h - what a process has mapped, as /proc tells it.
 *
 * A training has thousands of mappings, and a list of them takes a millisecond: ask seldom.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct maps_line {
	uint64_t begin, end, offset;
	uint64_t device, inode; /* as far as they tell files apart */
	bool is_code;           /* may be run, not written */
	const char *path;       /* begins with '/' */
};

/*
 * Calls `take` for every mapping of a file, by address; stops with its result if that is not 0.
 * -errno: the process is gone, or we may not look at it.
 */
int maps_each(int32_t pid, int (*take)(void *context, const struct maps_line *line), void *context);

/*
 * Opens the file of a mapping to read, if `path` still names it. What has taken its name, as a pipe
 * or a device, is not opened: that would wait, or do something. A descriptor or -errno.
 */
int maps_open(const char *path, uint64_t device, uint64_t inode);

/* As in maps_line. */
uint64_t maps_device(dev_t device);

/*
 * A number that changes with the code that the process has mapped: cheap, against all its mappings.
 * 0: it cannot be told.
 */
uint64_t maps_state(int32_t pid);

/*
 * The same, and another number for each program that was started, though it be the same one: only
 * what was forked has all code at the same addresses. 0: it cannot be told.
 */
uint64_t maps_image(int32_t pid);
