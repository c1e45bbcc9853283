/* SPDX-License-Identifier: Apache-2.0 */
/* range.h - how far off predictions from a short run may be, because it is short. */
#ifndef RANGE_H
#define RANGE_H

#include "analysis/whatif.h"

#define RANGE_LONGEST 3000 /* batches; what is longer is off by less than other things are */

/*
 * The 95 % ranges of the predictions `first` to `end` - 1, by replaying traces that are drawn anew
 * from this one: circular blocks of 2 p W loads and their steps, fixed seed. 0 or -ENOMEM.
 */
int range_find(const struct trace *trace, struct whatif *whatif, int first, int end);

#endif
