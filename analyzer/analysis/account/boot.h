/* SPDX-License-Identifier: Apache-2.0 */
/* boot.h - how far another run of the same length would differ: an interval for the stall ratio. */
#pragma once

#include "analysis/account/stall.h"

struct boot {
	double low95, high95; /* 2.5 % and 97.5 % of the resamples; NAN: not known */
	double low99;         /* the 1 % of them, for gates */
	double error;         /* their standard deviation */
};

/*
 * Bootstrap of the ratio of a judged series: 400 resamples, fixed seed. Its batches are drawn in
 * circular blocks of 2 p W (../README.md: shorter blocks are too wide), or longer where what is
 * slow stays slow for longer; its later epochs' starts and ends are drawn among themselves, since
 * another run has as many of them. Long series are summed up to 16384 cells first, of which a block
 * takes what it takes. What the account holds beside this series varies by the finding's
 * `others_error_ns`. How often it is wrong: tests/bench/gate_study.c. 0 or -ENOMEM.
 */
int boot_stall_ratio(const struct batch_series *series, const struct finding *finding,
		     struct boot *ret);

/* Standard error of the sum of its waits, by the same resampling. 0 or -ENOMEM. */
int boot_wait_error(const struct batch_series *series, const struct finding *finding,
		    double *ret_ns);

/* The least length of a block: 2 p W; what is not known counts as in a DataLoader's defaults. */
size_t boot_block(const struct batch_series *series);
