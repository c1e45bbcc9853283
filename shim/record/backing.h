/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backing.h - the file behind a segment: it has its full length at once, but disk blocks only where
 * used.
 *
 * On a full disk, the first read or write of a page without a block raises SIGBUS. So nobody
 * touches a page before backing_reserve() has reserved it, and only there the disk can be found
 * full. (A file system that makes a new block for every write, such as btrfs, can still run full
 * later.)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "dlprof/segment.h"

/* Makes and maps a new file `path`, with no blocks reserved yet. Returns 0 or -errno. */
int backing_make(const char *path, struct dlprof_segment **ret_shared);

/*
 * Reserves blocks for `size` zero bytes of the mapping. `path` names the file, for kernels and
 * sandboxes that cannot reserve through the mapping. Returns 0 or -errno.
 */
int backing_reserve(const char *path, struct dlprof_segment *shared, size_t offset, size_t size);

/*
 * Locks the file for as long as this process has the mapping: see DLPROF_SEGMENT_LOCKED. Returns
 * false on failure.
 */
bool backing_lock(const char *path);

/*
 * Renames the file to "STEM.seg", "STEM-1.seg", ..., and appends the suffix to `path`, which holds
 * the stem. Never replaces a file: a process has older ones after exec().
 */
int backing_give_name(const char *unfinished, struct text *path);
