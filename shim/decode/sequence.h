/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence.h - an image that takes many calls of its library, identified by the library's handle.
 *
 * Calls that prepare an image are timed one by one, and added to its tally once its width is known.
 * From the call that starts its pixels to the one that ends them, no call is timed: all of that
 * time is the image's, including its caller's work on each row, except operations that are timed
 * separately, such as reads. This holds within one thread, one load and one decoding call of
 * Python. An image that is ended elsewhere, or never, is counted without time.
 *
 * Each thread remembers its last few handles.
 */
#pragma once

#include "decode/unit.h"

/* Ends a timed call that is part of the image behind `handle`; with NULL, records nothing. */
struct thread_image *sequence_part_end(struct unit *unit, const void *handle,
				       struct unit_result result);

/* If the image behind `handle` was counted, makes the next part begin a new image. */
void sequence_forget(struct unit *unit, const void *handle);

/* Returns true if the image behind `handle` has been counted. */
bool sequence_is_counted(const struct unit *unit, const void *handle);

/* Starts an image's pixels: from now on this thread's time is the image's. NULL does nothing. */
void sequence_start(struct thread_image *image);

/* Returns the image behind `handle` if this thread started it and the process records, or NULL. */
struct thread_image *sequence_started(enum decode_library_id library, const void *handle);

/* Ends an image. `address`: the caller's frame. `is_last`: forgets the handle. */
void sequence_end(struct thread_image *image, uintptr_t address, bool is_last);
