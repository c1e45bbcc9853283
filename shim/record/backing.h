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

/* Makes and maps a new file without blocks. Returns 0 or -errno. */
int backing_make(const char *path, struct dlprof_segment **ret_shared);

/* Uses `path` if the mapping cannot reserve blocks. Returns 0 or -errno. */
int backing_reserve(const char *path, struct dlprof_segment *shared, size_t offset, size_t size);

/* Locks the file while this process has the mapping (DLPROF_SEGMENT_LOCKED). */
bool backing_lock(const char *path);

/* Names the file "STEM.seg", "STEM-1.seg", ...; adds the suffix to the stem in `path`. */
int backing_give_name(const char *unfinished, struct text *path);
