/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label.h - copies the names that a program gives to ranges, cut to the size of a mark.
 *
 * At most LABEL_BYTES of a name are read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "dlprof/event.h"

#define LABEL_BYTES DLPROF_MARK_BYTES /* bytes of a label, including the 0 at the end */

/* Copies `text` to `label`, of LABEL_BYTES; NULL becomes "". */
void label_copy(char *label, const char *text);

/*
 * Returns true if a range with this name is a step. `wanted` is the name that the user gave for
 * steps; any number may follow it in the label. If it is NULL, the label's letters must be "step",
 * "iteration" or "iter", perhaps after "train", "global" and the like: "ProfilerStep#12",
 * "train_step", "iteration5", "epoch 3 step 7", but not "optimizer.step".
 */
bool label_is_step(const char *label, const char *wanted);
