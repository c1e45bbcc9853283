/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backing.h - makes the file behind a segment: of full length, but disk blocks only where used.
 *
 * On a full disk, touching a page without a disk block raises SIGBUS, so each page is reserved by
 * backing_reserve() first. (btrfs and others need a new block for each write. There, touching a
 * reserved page can still raise SIGBUS if the disk gets full later.)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "dlprof/segment.h"

/* Makes and maps a new file without disk blocks. Returns 0 or -errno. */
int backing_make(const char *path, struct dlprof_segment **ret_shared);

/* Reserves disk blocks, by the mapping or, if that fails, by the file. Returns 0 or -errno. */
int backing_reserve(const char *path, struct dlprof_segment *shared, size_t offset, size_t size);

/* Locks the file as long as this process maps it (DLPROF_SEGMENT_LOCKED). Returns false if not. */
bool backing_lock(const char *path);

/* Renames `unfinished` to `path` + ".seg" or, if taken, + "-1.seg", ...; `path` gets that end. */
int backing_give_name(const char *unfinished, struct text *path);
