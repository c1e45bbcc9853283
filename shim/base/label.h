/* SPDX-License-Identifier: Apache-2.0 */
/* label.h - copies names of ranges, cut to the size of a mark. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "dlprof/event.h"

#define LABEL_BYTES DLPROF_MARK_BYTES

void label_copy(char *label, const char *text);

/*
 * Returns true if the name begins with `wanted`. If that is NULL, the letters must be "step",
 * "iteration" or "iter", perhaps after a word like "train": "epoch 3 step 7", not "optimizer.step".
 */
bool label_is_step(const char *label, const char *wanted);
