/* SPDX-License-Identifier: Apache-2.0 */
/* origin.h - the place in the program from which a library's function was called. */
#pragma once

#include <stdint.h>

#include "base/text.h"

/*
 * Returns a hash of the calls nearest to torch's code, and of the program's own call; 0: unknown.
 * `text` gets the program's own call, "train.py:41 in main". Needs the GIL.
 */
uint64_t origin_find(struct text *text);
