/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pace.h - how fast a rank goes, from its begin to its end: do two ranks wait for each other?
 *
 * Ranks that meet after every so many steps are level each time: how far one is ahead has a bound.
 * Of ranks that never meet the faster one gets further and further ahead. Only times between a
 * rank's own steps are compared, never one machine's clock with another's. What passes between two
 * epochs counts as well, for a rank that validates, or saves, is waited for by the others; where it
 * is not known, the first step of an epoch is left out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACE_CELLS 64

/* All zero has no steps. Partials hold it as it is. */
struct pace {
	float cells[PACE_CELLS]; /* how long 1 << shift steps took, in ns */
	uint32_t shift, count;
	float rest_ns; /* of fewer steps */
	uint32_t rest;
};

static inline size_t pace_steps(const struct pace *pace)
{
	return ((size_t)pace->count << pace->shift) + pace->rest;
}

void pace_add(struct pace *pace, double step_ns);

/*
 * How far the one gets ahead of the other at most, in steps; 0 where there are too few to say, and
 * INFINITY where they are surely apart: ahead by more than two of the widest windows explain, and
 * ever more.
 */
double pace_lead(const struct pace *one, const struct pace *other);
