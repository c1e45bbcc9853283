/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.h - what the scheduler gives a run of cores that others want, too.
 *
 * Cores are divided between groups (control groups, else sessions) by weight, and within a group
 * between its threads by weight; nobody gets more than he wants, and what he leaves goes to the
 * others. So a run is not slower for programs of nice 19, and is for others only where it has more
 * threads that could run than its share has cores.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SHARE_NEIGHBOURS 17

/* Others whom the scheduler treats alike; in cores. */
struct share_neighbour {
	bool is_group; /* another one than the run's; else threads of the run's own group */
	double weight; /* over the run's group, or over one of its threads */
	double ran;
	double wanted; /* ran, or could have */
};

struct share {
	double cores; /* most that the run may use; NAN: unknown */
	double all;   /* that are divided */
	struct share_neighbour neighbours[SHARE_NEIGHBOURS];
	size_t count;
};

/*
 * The part of a core (0-1) that each of so many runnable threads of the run gets. `want`: the
 * neighbours' demand, relative to what it was. 1 where nothing is known.
 */
double share_of_thread(const struct share *share, double threads, double want);

/* Cores that the neighbours wanted. */
double share_wanted(const struct share *share);
