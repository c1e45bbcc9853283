/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backing.h - the file behind a segment: it has its length at once, and blocks where they are used.
 *
 * A page of the mapping that has no block raises SIGBUS on a full disk, where it is first read or
 * written. So nobody touches one before backing_reserve() did; the disk is full there, and only
 * there. (Only a file system that makes a block anew for every write, as btrfs does, can still run
 * full under a page that has one.)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "dlprof/segment.h"

/* A new file of this path, mapped. Nothing of it is reserved. 0 or -errno. */
int backing_make(const char *path, struct dlprof_segment **ret_shared);

/*
 * Blocks for `size` bytes of the mapping, which still are zeroes. `path`: the file, for kernels and
 * sandboxes that do not do this by the mapping. 0 or -errno.
 */
int backing_reserve(const char *path, struct dlprof_segment *shared, size_t offset, size_t size);

/*
 * Holds a lock on the file for as long as this process has its memory, and no longer: see
 * DLPROF_SEGMENT_LOCKED. False: there is none.
 */
bool backing_lock(const char *path);

/*
 * Renames it to "STEM.seg", "STEM-1.seg", ...: never over another one, which a process that went
 * through exec() has by that name. Adds to `path`, which is the stem.
 */
int backing_give_name(const char *unfinished, struct text *path);
