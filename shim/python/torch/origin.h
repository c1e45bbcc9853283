/* SPDX-License-Identifier: Apache-2.0 */
/* origin.h - the place in the program from which a library's function was called. */
#pragma once

#include <stdint.h>

#include "base/text.h"

/*
 * Returns a hash of the calls that lead here, or 0. It contains the nearest frames outside torch,
 * and the nearest one in the program's own code, which `text` names: "train.py:41 in main". Needs
 * the GIL.
 */
uint64_t origin_find(struct text *text);
