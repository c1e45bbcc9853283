/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.h - the share of its cores that the scheduler gives to a run, when others want them, too.
 *
 * Cores are divided between groups (control groups, else sessions) by weight, and within a group
 * between its threads by weight. Nobody gets more than he wants, and what he leaves goes to the
 * others. So programs of nice 19 do not slow a run, and other programs do only where the run has
 * more runnable threads than its share has cores.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SHARE_NEIGHBOURS 17

/* Other groups or threads that the scheduler treats alike; amounts are in cores. */
struct share_neighbour {
	bool is_group; /* a group beside the run's; else threads of the run's own group */
	double weight; /* relative to the run's group, or to one of the run's threads */
	double ran;
	double wanted; /* ran, or could have */
};

struct share {
	double cores; /* most cores that the run may use; NAN: unknown */
	double all;   /* cores that are divided among all */
	struct share_neighbour neighbours[SHARE_NEIGHBOURS];
	size_t count;
};

/*
 * The part of a core (0-1) that each of `threads` runnable threads of the run gets; 1 where nothing
 * is known. `want` is a factor on the neighbours' demand.
 */
double share_of_thread(const struct share *share, double threads, double want);

/* Cores that all neighbours wanted together. */
double share_wanted(const struct share *share);
