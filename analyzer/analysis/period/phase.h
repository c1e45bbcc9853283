/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase.h - says whether the true period is a multiple of the found one, and how regular it is.
 *
 * Values are cut into rows, each one period long (fold.h). A phase is a position in a row.
 */
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

/*
 * Returns true if the true period is k times `period`: the best phase has nearly all its time in
 * one of every k rows. `scratch` has room for k * period numbers.
 */
bool phase_is_multiple(const struct phase_series *series, size_t period, size_t k, double *scratch);

/*
 * Returns the share of the time at the best phase. Even rows choose the phase that is measured in
 * odd rows, and odd rows that of even rows. `scratch` has room for 3 * period numbers.
 */
double phase_share(const struct phase_series *series, size_t period, double *scratch,
		   size_t *ret_phase);
