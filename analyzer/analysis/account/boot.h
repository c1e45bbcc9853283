/* SPDX-License-Identifier: Apache-2.0 */
/* boot.h - the interval in which the stall ratio of another run of the same length lies. */
#pragma once

#include "analysis/account/stall.h"

struct boot {
	double low95, high95; /* 2.5 % and 97.5 % quantiles of the resampled ratios; NAN: not
			       * known */
	double low99;         /* 1 % quantile of the resampled ratios, for gates */
	double error;         /* standard deviation of the resampled ratios */
};

/*
 * Computes the interval of a judged series' stall ratio by a bootstrap: 400 resamples, fixed seed.
 * Batches are drawn in circular blocks of 2 p W (../README.md says why), or longer ones if slow
 * batches stay slow for longer. Later epochs' starts and ends are drawn separately, since another
 * run has as many of them. A long series is first summed into at most 16384 cells, and blocks are
 * counted in cells. The account's waits for other loaders vary by the finding's `others_error_ns`.
 * tests/bench/gate_study.c measures how often the interval is wrong. 0 or -ENOMEM.
 */
int boot_stall_ratio(const struct batch_series *series, const struct finding *finding,
		     struct boot *ret);

/* Computes the standard error of the series' summed waits, by the same bootstrap. 0 or -ENOMEM. */
int boot_wait_error(const struct batch_series *series, const struct finding *finding,
		    double *ret_ns);

/* Returns the least block length in batches: 2 x prefetch factor (or 2) x workers (or 8). */
size_t boot_block(const struct batch_series *series);
