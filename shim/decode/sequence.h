/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence.h - an image that takes many calls of its library, known by the library's handle.
 *
 * An image's time runs from the start of its pixels to their end, without operations that are timed
 * by themselves, such as reads. An image has no time if it ends in another thread, load or Python
 * call than it began in.
 */
#pragma once

#include "decode/unit.h"

/* Ends a call for a part of an image. `handle` NULL: records nothing. */
struct thread_image *sequence_part_end(struct unit *unit, const void *handle,
				       struct unit_result result);

/* Makes the next part begin a new image, if the image was counted or its size is known. */
void sequence_forget(struct unit *unit, const void *handle);

bool sequence_is_counted(const struct unit *unit, const void *handle);

/* Begins the time of an image's pixels. `image` may be NULL. */
void sequence_start(struct thread_image *image);

/* Returns the image that this thread has begun with `handle`, or NULL. */
struct thread_image *sequence_started(enum decode_library_id library, const void *handle);

/* Ends the pixels' time. `address`: the caller's stack frame. `is_last`: no more parts follow. */
void sequence_end(struct thread_image *image, uintptr_t address, bool is_last);
