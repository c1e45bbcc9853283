/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/statistics/track.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CORRELATION 0.9

static int begin(struct track *track)
{
	track->numerator = calloc(2 * TRACK_CELLS, sizeof(double));
	if (!track->numerator)
		return -ENOMEM;
	track->denominator = track->numerator + TRACK_CELLS;
	track->size = 1;
	return 0;
}

static void halve(struct track *track)
{
	const size_t half = TRACK_CELLS / 2;

	for (size_t i = 0; i < half; i++) {
		track->numerator[i] = track->numerator[2 * i] + track->numerator[2 * i + 1];
		track->denominator[i] = track->denominator[2 * i] + track->denominator[2 * i + 1];
	}
	memset(track->numerator + half, 0, half * sizeof(double));
	memset(track->denominator + half, 0, half * sizeof(double));
	track->size *= 2;
	track->count = half;
	track->filled = track->size;
}

int track_add(struct track *track, double numerator, double denominator)
{
	if (!track->numerator && begin(track) < 0)
		return -ENOMEM;
	if (track->filled == track->size && track->count == TRACK_CELLS)
		halve(track);
	if (!track->count || track->filled == track->size) {
		track->count++;
		track->filled = 0;
	}
	track->numerator[track->count - 1] += numerator;
	track->denominator[track->count - 1] += denominator;
	track->filled++;
	return 0;
}

void track_done(struct track *track)
{
	free(track->numerator);
	memset(track, 0, sizeof(*track));
}

double track_t975(double freedom)
{
	const double z = 1.959963984540054, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
	const double v = freedom;

	return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
	       (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v);
}

static double block_variance(const double *residuals, size_t blocks, size_t per_block)
{
	double mean = 0, last = 0, squares = 0, products = 0, correlation;

	for (size_t i = 0; i < blocks * per_block; i++)
		mean += residuals[i];
	mean /= (double)blocks;
	for (size_t block = 0; block < blocks; block++) {
		double sum = -mean;

		for (size_t i = 0; i < per_block; i++)
			sum += residuals[block * per_block + i];
		squares += sum * sum;
		products += block ? sum * last : 0;
		last = sum;
	}
	/* Few blocks make the correlation seem too small. Kendall's formula corrects that. */
	correlation = squares > 0 ? products / squares : 0;
	correlation += (1 + 3 * correlation) / (double)blocks;
	correlation = fmin(fmax(correlation, 0), MOST_CORRELATION);
	return squares / (double)(blocks - 1) * (1 + correlation) / (1 - correlation);
}

struct estimate track_estimate(const struct track *track, size_t least)
{
	struct estimate ret = {NAN, NAN, NAN};
	/* A last cell that is not full counts in the mean, but is left out of the variance. */
	size_t whole =
		track->count && track->filled < track->size ? track->count - 1 : track->count;
	double numerator = 0, denominator = 0, widest = -1, *residuals;
	size_t per_block, i;

	for (i = 0; i < track->count; i++) {
		numerator += track->numerator[i];
		denominator += track->denominator[i];
	}
	if (!(denominator > 0))
		return ret;
	ret.value = numerator / denominator;
	residuals = malloc((track->count + 1) * sizeof(*residuals));
	if (!residuals)
		return ret;
	for (i = 0; i < whole; i++)
		residuals[i] = track->numerator[i] - ret.value * track->denominator[i];
	per_block = (least + track->size - 1) / track->size;
	if (per_block > whole / TRACK_BLOCKS)
		per_block = whole / TRACK_BLOCKS;
	for (; per_block && whole / per_block >= TRACK_BLOCKS; per_block *= 2) {
		size_t blocks = whole / per_block;
		double freedom = (double)(blocks - 1), width;
		double variance = block_variance(residuals, blocks, per_block) *
				  ((double)track->count / (double)per_block) /
				  (denominator * denominator);

		width = sqrt(variance) * track_t975(freedom);
		if (!(width > widest))
			continue;
		widest = width;
		ret.variance = variance;
		ret.freedom = freedom;
	}
	free(residuals);
	return ret;
}
