/* SPDX-License-Identifier: Apache-2.0 */
/* phase.h - says whether a multiple of a found period is the true one, and how regular it is. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/statistics/fold.h"

struct phase_series {
	const float *ns;
	double cap_ns;
	double event_share;
	const struct fold_segment *segments;
	size_t segment_count;
};

#define PHASE_PROMOTE_MOST 3

/* True: in rows of kP, one of k phases has nearly all time. `scratch` has room for kP numbers. */
bool phase_is_multiple(const struct phase_series *series, size_t period, size_t k, double *scratch);

/* Cross-validated between even and odd rows. `scratch` has room for 3 P numbers. */
double phase_share(const struct phase_series *series, size_t period, double *scratch,
		   size_t *ret_phase);
