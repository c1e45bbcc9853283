/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backing.h - the file behind a segment: it has its full length at once, but blocks only where
 * used.
 *
 * A page of the mapping without a block raises SIGBUS on a full disk, when it is first read or
 * written. So nobody touches a page before backing_reserve() reserved it, which is the only place
 * where the disk can be full. (Only a file system that makes a new block for every write, as btrfs
 * does, can still run full under a page that has one.)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "dlprof/segment.h"

/* Makes and maps a new file `path`, without any reserved blocks. Returns 0 or -errno. */
int backing_make(const char *path, struct dlprof_segment **ret_shared);

/*
 * Reserves blocks for `size` bytes of the mapping, which stay zeroes. `path` is the file, for
 * kernels and sandboxes that cannot reserve through the mapping. Returns 0 or -errno.
 */
int backing_reserve(const char *path, struct dlprof_segment *shared, size_t offset, size_t size);

/*
 * Locks the file for as long as this process has its memory, and no longer: see
 * DLPROF_SEGMENT_LOCKED. Returns false if that failed.
 */
bool backing_lock(const char *path);

/*
 * Renames the file to "STEM.seg", "STEM-1.seg", ..., and appends that to `path`, which holds the
 * stem. Never replaces a file: a process that went through exec() has one by that name.
 */
int backing_give_name(const char *unfinished, struct text *path);
