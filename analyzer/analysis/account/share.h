/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.h - computes how many cores the scheduler gives to a run beside other programs.
 *
 * It divides cores by weight between groups (control groups, or sessions), then between a group's
 * threads. None gets more than it wants; the others get what it leaves.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SHARE_NEIGHBOURS 17

/* Other groups, or other threads of the run's group, of like weight. Amounts are in cores. */
struct share_neighbour {
	bool is_group; /* false: these are threads in the run's group */
	double weight; /* the run's group, or one of the run's threads, has weight 1 */
	double ran;
	double wanted; /* cores that they would have used if they were free */
};

struct share {
	double cores; /* cores that the run may use; NAN: unknown */
	double all;   /* cores that all groups share */
	struct share_neighbour neighbours[SHARE_NEIGHBOURS];
	size_t count;
};

/*
 * Returns the part of a core (0-1) that each thread gets; 1: unknown. `want` scales what others
 * want.
 */
double share_of_thread(const struct share *share, double threads, double want);

double share_wanted(const struct share *share);
