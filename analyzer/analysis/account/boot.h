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
 * Computes the interval of the stall ratio of a series that stall_judge() judged, from 400
 * resamples with a fixed seed. Batches are drawn in circular blocks of 2 p W (../README.md says
 * why), or longer ones if slow batches stay slow for longer. The starts and ends of later epochs
 * are drawn separately, so that each resample has as many of them as the run. A long series is
 * first summed into at most 16384 cells, and blocks are counted in cells. The waits for other
 * loaders vary as a normal number of standard deviation `others_error_ns`. tests/bench/gate_study.c
 * measures how often the interval is wrong. Returns 0 or -ENOMEM.
 */
int boot_stall_ratio(const struct batch_series *series, const struct finding *finding,
		     struct boot *ret);

/* Computes the standard error of the series' summed waits, by the same bootstrap. 0 or -ENOMEM. */
int boot_wait_error(const struct batch_series *series, const struct finding *finding,
		    double *ret_ns);

/* Returns the least block length in batches: 2 x prefetch factor x workers (unknown: 2 and 8). */
size_t boot_block(const struct batch_series *series);
