/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.h - computes how many cores the scheduler gives to a run while other programs want them,
 * too.
 *
 * The scheduler divides the cores by weight between groups (control groups, or sessions), and the
 * cores of a group by weight between its threads. No group or thread gets more than it wants; the
 * others get what it leaves. So programs of nice 19 hardly slow a run, and other programs slow it
 * only if the run has more runnable threads than cores.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SHARE_NEIGHBOURS 17

/* Other groups, or other threads of the run's group, of like weight. Amounts are in cores. */
struct share_neighbour {
	bool is_group; /* true: groups other than the run's; false: threads in the run's group */
	double weight; /* the run's group, or one of the run's threads, has weight 1 */
	double ran;
	double wanted; /* cores that they would have used if enough cores had been free */
};

struct share {
	double cores; /* number of cores that the run may use; NAN: unknown */
	double all;   /* number of cores that all groups share */
	struct share_neighbour neighbours[SHARE_NEIGHBOURS];
	size_t count;
};

/*
 * Returns the part of a core (0-1) that each of the run's `threads` runnable threads gets; 1 if
 * nothing is known. The cores that the neighbours want are multiplied by `want` first.
 */
double share_of_thread(const struct share *share, double threads, double want);

/* Returns the number of cores that all neighbours together want. */
double share_wanted(const struct share *share);
