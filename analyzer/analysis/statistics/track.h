/* SPDX-License-Identifier: Apache-2.0 */
/*
 * track.h - a mean over a run and its uncertainty, in one pass and bounded memory.
 *
 * Numerators and denominators are added batch by batch; the value is the ratio of their sums:
 * seconds over batches, or stalled over all time. They are summed up in cells, which hold more
 * batches in a long run.
 *
 * Batches are no independent samples: waits alternate with a period of W batches, and storage or a
 * neighbour can be slow for hundreds of them. A bootstrap over blocks of a fixed length then says
 * "different" of 24 to 53 % of pairs of equal runs (autocorrelation .99), and no length is right
 * for all. So the run is cut into blocks of many lengths, up to an eighth of it; each length gives
 * a variance of the mean, raised by the correlation of neighbouring blocks, and the widest interval
 * counts.
 */
#pragma once

#include <stddef.h>

#define TRACK_CELLS  4096
#define TRACK_BLOCKS 8 /* least blocks whose variance is used */

struct track {
	double *numerator; /* TRACK_CELLS sums each; NULL until something is added */
	double *denominator;
	size_t count;  /* number of cells; the last need not be full */
	size_t size;   /* batches in each cell */
	size_t filled; /* batches in the last cell */
};

/* Adds a pair to a track, which begins as all zero. Returns 0 or -ENOMEM. */
int track_add(struct track *track, double numerator, double denominator);
void track_done(struct track *track);

struct estimate {
	double value;    /* NAN: nothing was added */
	double variance; /* NAN: too few batches */
	double freedom;  /* degrees of freedom of the variance */
};

/* Computes value and variance; `least` is how many batches a block has at least. */
struct estimate track_estimate(const struct track *track, size_t least);

/* Returns the 97.5 % quantile of Student's t; freedom >= 3. */
double track_t975(double freedom);
