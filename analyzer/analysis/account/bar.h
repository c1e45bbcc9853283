/* SPDX-License-Identifier: Apache-2.0 */
/* bar.h - batches that stand next to each other as one bar of a picture. */
#pragma once

#include "analysis/account/series.h"

struct bar {
	double wait_ns, compute_ns, busy_ns; /* means; NAN: not known */
	double most_ns;                      /* of a batch's wait and compute */
	size_t begin, end;                   /* positions in the series */
};

/* `compute_ns` is the whole step where nothing but steps is known. */
struct bar bar_of(const struct batch_series *series, size_t begin, size_t end);

/* The whole series as `most` bars of equal width at most, to be freed; none of none. 0, -ENOMEM. */
int bars_of(const struct batch_series *series, size_t most, struct bar **ret, size_t *ret_count);
