/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range.h - how far off a prediction may be: 95 %, and the prediction is always within.
 *
 * Four things, of which the first three are added as errors that are independent of each other:
 * - Chance, in a short run: 2.5 and 97.5 % of replays of traces that are drawn anew from this one,
 *   by blocks of 2 p W batches, which keep their phase.
 * - The neighbours: replays in which they want half as much, and half as much again.
 * - The model: RANGE_LEAST, by how much its replay of the run as it was is off, and RANGE_PART of
 *   what the change brings. The two were chosen on the 67 "seen" pairs of tests/bench/predict.py,
 *   really run on 2 cores, before any of its "unseen" ones ran.
 * - Where slow loads may be the data's as well as a worker's, the other one's prediction is within.
 */
#ifndef RANGE_H
#define RANGE_H

#include "analysis/whatif.h"

#define RANGE_LONGEST 3000 /* batches; what is longer is off by less than other things are */
#define RANGE_LEAST   0.04
#define RANGE_PART    0.06 /* of the logarithm */

/* The ranges of the predictions `first` to `end` - 1. 0 or -ENOMEM. */
int range_find(const struct trace *trace, struct whatif *whatif, int first, int end);

#endif
