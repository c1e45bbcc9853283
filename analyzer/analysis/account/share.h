/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.h - the share of the cores that the scheduler gives to a run when other programs want them,
 * too.
 *
 * Cores are divided between groups (control groups, else sessions) by weight, and within a group
 * between its threads by weight. No group or thread gets more than it wants; what it leaves goes to
 * the others. So programs of nice 19 do not slow a run, and other programs do only where the run
 * has more runnable threads than its share has cores.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SHARE_NEIGHBOURS 17

/* Groups or threads other than the run's that the scheduler treats alike; amounts are in cores. */
struct share_neighbour {
	bool is_group; /* true: a group beside the run's; false: threads in the run's group */
	double weight; /* weight relative to the run's group, or to one of the run's threads */
	double ran;
	double wanted; /* cores that they used, or could have used */
};

struct share {
	double cores; /* most cores that the run may use; NAN: unknown */
	double all;   /* cores that are divided among all groups */
	struct share_neighbour neighbours[SHARE_NEIGHBOURS];
	size_t count;
};

/*
 * Returns the part of a core (0-1) that each of `threads` runnable threads of the run gets; 1 if
 * nothing is known. `want` is a factor on the cores that the neighbours want.
 */
double share_of_thread(const struct share *share, double threads, double want);

/* Returns how many cores all neighbours together wanted. */
double share_wanted(const struct share *share);
