/* SPDX-License-Identifier: Apache-2.0 */
/* shares.h - divides an account into whole percent, which sum to 100 and to the headline. */
#pragma once

#include "analysis/account/account.h"
#include "render/form/page.h"
#include "render/form/units.h"

#define SHARES_MOST (ACCOUNT_PART_MAX + 1)

struct share_part {
	const char *label;
	enum page_color tone;
	int part; /* enum account_part; ACCOUNT_PART_MAX: the steps */
	double ns;
	int64_t units; /* share in percent, or in tenths of a percent */
};

/*
 * Fills `ret` with the parts that took time, the steps last; sets *ret_whole to the units in the
 * whole: 100, or 1000 if the ratio is below ten percent. Returns the number of parts.
 */
size_t shares_divide(const struct account *account, struct share_part ret[SHARES_MOST],
		     int64_t *ret_whole);

/* Writes a number of units as "8 %" or "0.8 %" to `buffer`, and returns it. */
const char *shares_words(int64_t units, int64_t whole, char buffer[UNITS_MAX]);

/* Writes the share of one part (ACCOUNT_PART_MAX: the steps), as shares_divide() rounds it. */
const char *shares_of(const struct account *account, int part, char buffer[UNITS_MAX]);
