/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.h - computes how many cores the scheduler gives to a run beside other programs.
 *
 * The scheduler divides cores by weight between groups (control groups, or sessions), then between
 * a group's threads. Nobody gets more than wanted; the others get the rest.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SHARE_NEIGHBOURS 17

/* Another group, or all other threads of one weight in the run's group. Amounts are in cores. */
struct share_neighbour {
	bool is_group; /* false: these are threads in the run's group */
	double weight; /* the run's group, or one of the run's threads, has weight 1 */
	double ran;
	double wanted; /* cores that would have been used, had all been free */
};

struct share {
	double cores; /* cores that the run may use; NAN: unknown */
	double all;   /* cores for which all groups compete */
	struct share_neighbour neighbours[SHARE_NEIGHBOURS];
	size_t count;
};

/*
 * Returns the part of a core (0-1) that each of the run's `threads` gets; 1: unknown. `want` is a
 * factor on what the neighbours want.
 */
double share_of_thread(const struct share *share, double threads, double want);

double share_wanted(const struct share *share);
