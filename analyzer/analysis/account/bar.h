/* SPDX-License-Identifier: Apache-2.0 */
/* bar.h - sums up neighbouring batches, which a figure draws as one bar. */
#pragma once

#include "analysis/account/series.h"

struct bar {
	double wait_ns, compute_ns, busy_ns; /* means over the bar's batches; NAN: unknown */
	double most_ns;
	size_t begin, end; /* indexes in the series */
};

/* Sums up batches `begin` to `end` - 1. If wait and compute are unknown, compute_ns is the step. */
struct bar bar_of(const struct batch_series *series, size_t begin, size_t end);

/* Divides the series into at most `most` bars. The caller frees *ret. */
int bars_of(const struct batch_series *series, size_t most, struct bar **ret, size_t *ret_count);
