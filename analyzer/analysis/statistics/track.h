/* SPDX-License-Identifier: Apache-2.0 */
/*
 * track.h - computes a mean over a run (a ratio of two sums) and its error, in bounded memory.
 *
 * Batches depend on one another. If neighbours correlate by .99, a bootstrap over blocks of one
 * length falsely tells apart 24 to 53 % of pairs of equal runs. So blocks of many lengths are
 * tried, up to an eighth of the run. Each length gives a variance of the mean, which is raised if
 * neighbouring blocks correlate. The widest interval counts.
 */
#pragma once

#include <stddef.h>

#define TRACK_CELLS  4096
#define TRACK_BLOCKS 8 /* a variance is computed from at least this many blocks */

struct track {
	double *numerator; /* the sums of TRACK_CELLS cells; NULL until something is added */
	double *denominator;
	size_t count; /* number of cells in use; the last one need not be full */
	size_t size;
	size_t filled;
};

/* Adds one batch to the track, which must be all zero at first. */
int track_add(struct track *track, double numerator, double denominator);
void track_done(struct track *track);

struct estimate {
	double value;    /* NAN: nothing was added */
	double variance; /* NAN: there are too few batches */
	double freedom;
};

/* Estimates the mean. Blocks have `least` batches or more, if that makes TRACK_BLOCKS blocks. */
struct estimate track_estimate(const struct track *track, size_t least);

/* Returns the 97.5 % quantile of Student's t; freedom >= 3. */
double track_t975(double freedom);
