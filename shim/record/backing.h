/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backing.h - the file behind a segment: full length at once, but disk blocks only where used.
 *
 * On a full disk, touching a page without a block raises SIGBUS. So nobody touches a page before
 * backing_reserve() has reserved it. (A file system that makes a new block for every write, such as
 * btrfs, can still run full later.)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "dlprof/segment.h"

/* Makes and maps a new file without disk blocks. Returns 0 or -errno. */
int backing_make(const char *path, struct dlprof_segment **ret_shared);

/* Reserves blocks by the mapping or, if that fails, by the file `path`. Returns 0 or -errno. */
int backing_reserve(const char *path, struct dlprof_segment *shared, size_t offset, size_t size);

/* Locks the file for as long as this process maps it (DLPROF_SEGMENT_LOCKED). False: it cannot. */
bool backing_lock(const char *path);

/* Renames `unfinished` to the stem in `path` plus ".seg", "-1.seg", ...; `path` gets that end. */
int backing_give_name(const char *unfinished, struct text *path);
