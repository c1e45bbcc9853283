/* SPDX-License-Identifier: Apache-2.0 */
/* boot.h - how far another run of the same length would differ: an interval for the stall ratio. */
#pragma once

#include "analysis/account/stall.h"

struct boot {
	double low95, high95; /* 2.5 % and 97.5 % quantiles of the resamples; NAN: not known */
	double low99;         /* 1 % point of the resamples, for gates */
	double error;         /* standard deviation of the resamples */
};

/*
 * Bootstrap of the ratio of a judged series: 400 resamples, fixed seed. Batches are drawn in
 * circular blocks of 2 p W (../README.md says why), or longer ones where slow batches stay slow for
 * longer. Later epochs' starts and ends are drawn separately, since another run has as many of
 * them. A long series is first summed into at most 16384 cells, and blocks are counted in cells.
 * The account's waits for other loaders vary by the finding's `others_error_ns`.
 * tests/bench/gate_study.c measures how often the interval is wrong. 0 or -ENOMEM.
 */
int boot_stall_ratio(const struct batch_series *series, const struct finding *finding,
		     struct boot *ret);

/* Standard error of the series' summed waits, by the same resampling. 0 or -ENOMEM. */
int boot_wait_error(const struct batch_series *series, const struct finding *finding,
		    double *ret_ns);

/* The least length of a block in batches: 2 p W, with p 2 and W 8 where they are unknown. */
size_t boot_block(const struct batch_series *series);
