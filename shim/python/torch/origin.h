/* SPDX-License-Identifier: Apache-2.0 */
/* origin.h - the place in the program from which a library's function was called. */
#pragma once

#include <stdint.h>

#include "base/text.h"

/*
 * Returns a hash of the nearest calls outside torch and in the program's own code, or 0. `text`
 * names the latter: "train.py:41 in main". Needs the GIL.
 */
uint64_t origin_find(struct text *text);
