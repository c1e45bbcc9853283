/* SPDX-License-Identifier: Apache-2.0 */
/* origin.h - from where in the program a function of a library was called. */
#pragma once

#include <stdint.h>

#include "base/text.h"

/*
 * A hash of the calls that lead here, 0 where there are none: of the nearest outside torch, and of
 * the nearest of the program's own, which `text` names: "train.py:41 in main". Needs the GIL.
 */
uint64_t origin_find(struct text *text);
