/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callee.h - finds the library's function in which a line of the user's spends most of its time.
 *
 * A line such as `return self.transform(image)` takes all of a load and says little. Of all
 * functions below it in the stack samples, the innermost that takes half of the line's time or more
 * says more. Functions that only pass a call on do not count.
 */
#pragma once

#include "analysis/cause/lines.h"

/* Sets *ret_frame to a frame of that function. Returns 1, 0 (there is none) or -ENOMEM. */
int callee_find(const struct line_samples *samples, const struct line_filter *filter, uint32_t line,
		uint32_t *ret_frame);
