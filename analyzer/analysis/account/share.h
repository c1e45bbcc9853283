/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.h - computes how many cores the scheduler gives to a run beside other programs.
 *
 * The scheduler divides cores by weight between groups (control groups or sessions), and each
 * group's cores between its threads. Cores that a group or thread does not want go to the others.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SHARE_NEIGHBOURS 17

/* Another group of processes, or the foreign threads of one weight in the run's own group. */
struct share_neighbour {
	bool is_group; /* false: foreign threads in the run's group */
	double weight; /* relative to the run's group, or (threads) to one of the run's threads */
	double ran;
	double wanted; /* number of cores that they would have used on an idle machine */
};

struct share {
	double cores; /* number of cores that the run may use; NAN: unknown */
	double all;   /* number of cores for which all groups compete */
	struct share_neighbour neighbours[SHARE_NEIGHBOURS];
	size_t count;
};

/*
 * Returns which part of a core (0-1) each of the run's `threads` gets; 1 if that is unknown.
 * Assumes that neighbours want `want` times as many cores as in the run.
 */
double share_of_thread(const struct share *share, double threads, double want);

double share_wanted(const struct share *share);

/*
 * Limits `wanted` of groups that used far fewer cores than their fair part. The scheduler would
 * have let such a group run more, so its waits for cores were only short waits for its turn.
 */
void share_bound(struct share *share);

/* Removes programs that used `cores` cores from the neighbours, beginning with the last one. */
void share_take_out(struct share *share, double cores);
