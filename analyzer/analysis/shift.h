/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shift.h - loads that take longer for good from some batch on: a credit of bursts is used up, a
 * cache does not hold what comes now. It is no passing trouble.
 */
#ifndef SHIFT_H
#define SHIFT_H

#include "analysis/series.h"

struct shift {
	size_t at;                  /* index of that batch; 0: none */
	double before_ns, after_ns; /* mean loads */
};

/*
 * Of the steady loads, in 64 parts: the boundary between two with most evidence (Welch on the
 * parts' means, z >= 6), four parts or more on either side, after which each quarter takes 1.3
 * times as long as what was before.
 */
void shift_find(const struct batch_series *series, struct shift *ret);

#endif
