/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label.h - copies the names that a program gives its ranges, cut to what a mark holds.
 *
 * No more of a name is read than a mark has room for.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "dlprof/event.h"

#define LABEL_BYTES DLPROF_MARK_BYTES /* bytes of a label, including the 0 at the end */

/* Fills LABEL_BYTES; a NULL gives "". */
void label_copy(char *label, const char *text);

/*
 * Whether a range of this name is a step. `wanted` is what the user calls a step, with any number
 * behind it; NULL: its letters are "step", "iteration" or "iter", perhaps after "train", "global"
 * and the like: "ProfilerStep#12", "train_step", "iteration5", "epoch 3 step 7", not
 * "optimizer.step".
 */
bool label_is_step(const char *label, const char *wanted);
