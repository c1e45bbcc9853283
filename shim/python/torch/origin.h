/* SPDX-License-Identifier: Apache-2.0 */
/* origin.h - finds the place in the program from which a library's function was called. */
#pragma once

#include <stdint.h>

#include "base/text.h"

/*
 * Writes the place, as "train.py:41 in main". Returns a hash of it and of the calls nearest to
 * torch's code; 0: unknown. Needs the GIL.
 */
uint64_t origin_find(struct text *text);
