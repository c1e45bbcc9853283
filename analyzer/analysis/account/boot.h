/* SPDX-License-Identifier: Apache-2.0 */
/* boot.h - estimates how much the stall ratio would vary if a run of this length were repeated. */
#pragma once

#include "analysis/account/stall.h"

struct boot {
	double low95, high95; /* 2.5 % and 97.5 % quantiles; NAN: unknown */
	double low99;         /* 1 % quantile of the resampled ratios, for gates */
	double error;         /* standard deviation of the resampled ratios */
};

/*
 * Draws 400 resamples of the batches in blocks (../README.md says why), with a fixed seed, and
 * computes the stall ratio of each. The waits for other loaders vary at random by their standard
 * error, `others_error_ns`. tests/bench/gate_study.c measures how often the interval is wrong.
 */
int boot_stall_ratio(const struct batch_series *series, const struct finding *finding,
		     struct boot *ret);

int boot_wait_error(const struct batch_series *series, const struct finding *finding,
		    double *ret_ns);

/* Returns a block's length: 2 x prefetch factor (unknown: 2) x workers (unknown: 8) batches. */
size_t boot_block(const struct batch_series *series);
