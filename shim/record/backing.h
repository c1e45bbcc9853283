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

/* Makes and maps a new file of this path, with nothing reserved. 0 or -errno. */
int backing_make(const char *path, struct dlprof_segment **ret_shared);

/*
 * Reserves blocks for `size` bytes of the mapping, which stay zeroes. `path` is the file, for
 * kernels and sandboxes that cannot do this by the mapping. 0 or -errno.
 */
int backing_reserve(const char *path, struct dlprof_segment *shared, size_t offset, size_t size);

/*
 * Locks the file for as long as this process has its memory, and no longer: see
 * DLPROF_SEGMENT_LOCKED. False: there is no lock.
 */
bool backing_lock(const char *path);

/*
 * Renames the file to "STEM.seg", "STEM-1.seg", ..., and adds to `path`, which is the stem. Another
 * file is never replaced: a process that went through exec() has one by that name.
 */
int backing_give_name(const char *unfinished, struct text *path);
