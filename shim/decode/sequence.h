/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence.h - an image that takes many calls of its library, known by the library's handle.
 *
 * Calls that prepare it are timed one by one, and added to its tally once its width is known. From
 * the call that starts its pixels to the one that ends them nothing is timed: all of that is the
 * image's, including its caller's work on each row, except what is timed by itself in between, as a
 * read is. That holds for one thread, within one load and one call of Python's that decodes. An
 * image that is ended elsewhere, or never, is counted without time.
 *
 * Each thread keeps its last few handles.
 */
#pragma once

#include "decode/unit.h"

/* Ends a timed call that is part of the image behind `handle`. NULL: nothing is recorded. */
struct thread_image *sequence_part_end(struct unit *unit, const void *handle,
				       struct unit_result result);

/* If the image behind `handle` was counted, the next part begins a new one. */
void sequence_forget(struct unit *unit, const void *handle);

/* Whether the image behind `handle` has been counted. */
bool sequence_is_counted(const struct unit *unit, const void *handle);

/* From now on all that this thread does belongs to the image. NULL is let through. */
void sequence_start(struct thread_image *image);

/* The image behind `handle`, if this thread started it and the process records. */
struct thread_image *sequence_started(enum decode_library_id library, const void *handle);

/* Ends an image. `address`: where the caller's frame is. `is_last`: the handle is forgotten. */
void sequence_end(struct thread_image *image, uintptr_t address, bool is_last);
