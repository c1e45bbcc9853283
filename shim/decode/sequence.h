/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence.h - an image that takes many calls of its library, known by the library's handle.
 *
 * Calls that prepare it are timed one by one; what they took before its width is known is added to
 * its tally later. From the call that starts its pixels to the one that ends them nothing is timed:
 * all of that is the image's, its caller's work on each row too, less what is timed by itself in
 * between, as a read is. That holds for one thread, within one load and one call of Python's that
 * decodes. An image that is ended elsewhere, or never, is counted, and has no time.
 *
 * Handles are kept per thread, the last few of them.
 */
#pragma once

#include "decode/unit.h"

/* The end of a timed call that is part of the image behind `handle`. NULL: nothing is recorded. */
struct thread_image *sequence_part_end(struct unit *unit, const void *handle,
				       struct unit_result result);

/* The next part belongs to a new image, if the one before was counted. */
void sequence_forget(struct unit *unit, const void *handle);

/* Whether the image behind `handle` has been counted. */
bool sequence_is_counted(const struct unit *unit, const void *handle);

/* From now on what this thread does is the image's. NULL is let through. */
void sequence_start(struct thread_image *image);

/* The image behind `handle`, if this thread started it and the process records. */
struct thread_image *sequence_started(enum decode_library_id library, const void *handle);

/* Its end. `address`: of the caller's frame. The image is forgotten if `is_last`. */
void sequence_end(struct thread_image *image, uintptr_t address, bool is_last);
