/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence.h - an image that takes many calls of its library, known by the library's handle.
 *
 * From the start of its pixels to their end, all time is the image's, except operations timed
 * separately, such as reads. An image that ends in another thread, load or Python call, or never,
 * has no time.
 */
#pragma once

#include "decode/unit.h"

/* `handle` NULL: records nothing. */
struct thread_image *sequence_part_end(struct unit *unit, const void *handle,
				       struct unit_result result);

/* Makes the next part begin a new image, if this one was counted. */
void sequence_forget(struct unit *unit, const void *handle);

bool sequence_is_counted(const struct unit *unit, const void *handle);

/* Begins the time of an image's pixels. NULL does nothing. */
void sequence_start(struct thread_image *image);

/* Returns the image that this thread started with the handle; NULL if none, or not recording. */
struct thread_image *sequence_started(enum decode_library_id library, const void *handle);

/* `address`: the caller's frame. `is_last`: forgets the handle. */
void sequence_end(struct thread_image *image, uintptr_t address, bool is_last);
