/* SPDX-License-Identifier: Apache-2.0 */
/* origin.h - the place in the program from which a library's function was called. */
#pragma once

#include <stdint.h>

#include "base/text.h"

/*
 * Returns a hash of the calls nearest outside torch, and of the program's own; 0 if unknown. `text`
 * names that: "train.py:41 in main". Needs the GIL.
 */
uint64_t origin_find(struct text *text);
