/* SPDX-License-Identifier: Apache-2.0 */
/*
 * growth.h - finds loads, or steps, that take longer and longer.
 *
 * They grow over the run, or within each epoch if samples are sorted by length. The reason may be a
 * list that is searched, an index, or a thread's backlog. A single rise is no growth, even if times
 * stay high; split.h finds such a rise of loads.
 */
#pragma once

#include <stdbool.h>

#include "analysis/account/stall.h"

struct growth {
	bool found;
	bool is_lasting; /* they grow, or from some part of the run on all are longer than before */
	bool in_epoch;   /* they grow within each epoch, not over the whole run */
	double first_ns, last_ns; /* mean of the first and of the last quarter; 0: too few */
};

/*
 * Finds growth among the steady batches' times `ns`, which are s->load_ns or s->compute_ns, and
 * may be NULL. `epochs` is the number of epochs: growth within epochs is looked for from two on.
 */
struct growth growth_find(const struct batch_series *s, const float *ns, size_t epochs);
