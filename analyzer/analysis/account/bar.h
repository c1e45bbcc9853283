/* SPDX-License-Identifier: Apache-2.0 */
/* bar.h - draws neighbouring batches as one bar of a figure. */
#pragma once

#include "analysis/account/series.h"

struct bar {
	double wait_ns, compute_ns, busy_ns; /* means over the bar's batches; NAN: not known */
	double most_ns;                      /* the largest wait + compute of one batch */
	size_t begin, end;                   /* indexes of the bar's batches in the series */
};

/* Makes a bar of batches; `compute_ns` is the mean step where wait and compute are unknown. */
struct bar bar_of(const struct batch_series *series, size_t begin, size_t end);

/* Cuts a series into at most `most` bars of equal width; the caller frees *ret. 0 or -ENOMEM. */
int bars_of(const struct batch_series *series, size_t most, struct bar **ret, size_t *ret_count);
