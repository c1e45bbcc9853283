/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare.h"

#include <math.h>

#define DEFAULT_WORKERS  8
#define DEFAULT_PREFETCH 2
#define LEAST_POINTS     0.02
#define FEW_BLOCKS       6

static const char *const ROWS[COMPARE_ROWS] = {
	[COMPARE_STEP] = "step",         [COMPARE_WAIT] = "wait",
	[COMPARE_COMPUTE] = "compute",   [COMPARE_EPOCH_START] = "epoch_start",
	[COMPARE_GPU_BUSY] = "gpu_busy", [COMPARE_GPU_IDLE] = "gpu_idle_wait",
	[COMPARE_LOAD] = "load",         [COMPARE_OPEN] = "open",
	[COMPARE_READ] = "read",         [COMPARE_DECODE] = "decode",
	[COMPARE_COLLATE] = "collate",   [COMPARE_OTHER] = "other",
	[COMPARE_TRANSFER] = "transfer", [COMPARE_STALL] = "stall",
};

/* A value that is not known is no batch of that track. */
static int add(struct compare_side *side, enum compare_row row, double numerator,
	       double denominator)
{
	if (isnan(numerator) || !(denominator > 0))
		return 0;
	return track_add(&side->tracks[row], numerator, denominator);
}

static double at(const float *column, size_t i)
{
	return column && column[i] >= 0 ? (double)column[i] : NAN;
}

static int add_batch(struct compare_side *side, const struct batch_series *s,
		     const struct finding *f, const struct series_place *place)
{
	size_t i = place->i;
	double wait_ns = at(s->wait_ns, i), compute_ns = at(s->compute_ns, i);
	double step_ns = wait_ns + compute_ns, starts = NAN;
	int r;

	if (isnan(step_ns))
		step_ns = at(s->step_ns, i);
	if (!isnan(wait_ns))
		starts = place->batch < stall_start_count(s->workers) ? wait_ns : 0;
	r = add(side, COMPARE_STEP, step_ns, 1);
	if (r == 0)
		r = add(side, COMPARE_WAIT, wait_ns, 1);
	if (r == 0)
		r = add(side, COMPARE_COMPUTE, compute_ns, 1);
	if (r == 0)
		r = add(side, COMPARE_EPOCH_START, starts, 1);
	if (r == 0)
		r = add(side, COMPARE_GPU_BUSY, at(s->gpu_busy_ns, i), 1);
	if (r == 0)
		r = add(side, COMPARE_GPU_IDLE, at(s->gpu_idle_ns, i), 1);
	if (r == 0 && f->gap == STALL_GAP_NONE && s->state[i] & SERIES_STEADY)
		r = add(side, COMPARE_STALL,
			s->state[i] & SERIES_STARVED ? at(stall_waits(s, f), i) : 0,
			wait_ns + compute_ns);
	return r;
}

int compare_add_series(struct compare_side *side, const struct batch_series *series,
		       const struct finding *finding)
{
	size_t workers = series->workers > 0 ? (size_t)series->workers
			 : series->workers   ? DEFAULT_WORKERS
					     : 1;
	size_t prefetch =
		series->prefetch_factor > 0 ? (size_t)series->prefetch_factor : DEFAULT_PREFETCH;
	struct series_place place = SERIES_BEGIN;
	int r = 0;

	side->block = 2 * prefetch * workers;
	while (r == 0 && series_next(series, &place))
		r = add_batch(side, series, finding, &place);
	return r;
}

int compare_add_load(struct compare_side *side, const struct load_times *times, double transfer_ns)
{
	const struct {
		enum compare_row row;
		double ns;
	} parts[] = {
		{COMPARE_LOAD, times->load_ns},       {COMPARE_OPEN, times->open_ns},
		{COMPARE_READ, times->read_ns},       {COMPARE_DECODE, times->decode_ns},
		{COMPARE_COLLATE, times->collate_ns}, {COMPARE_OTHER, times->other_ns},
		{COMPARE_TRANSFER, transfer_ns},
	};
	int r = 0;
	size_t i;

	for (i = 0; r == 0 && i < sizeof(parts) / sizeof(*parts); i++)
		r = add(side, parts[i].row, parts[i].ns, 1);
	return r;
}

void compare_side_done(struct compare_side *side)
{
	int row;

	for (row = 0; row < COMPARE_ROWS; row++)
		track_done(&side->tracks[row]);
}

/*
 * Half the width of the interval of a difference of two (Welch, Satterthwaite). A run in which the
 * one burst in a while did not happen seems steadier than it is: the smaller variance is taken for
 * a part of the larger one at least, for all of it where there are few blocks.
 */
static double half_width(const struct estimate *a, const struct estimate *b)
{
	const struct estimate *most = a->variance > b->variance ? a : b, *less = most == a ? b : a;
	double floor = fmin(1, FEW_BLOCKS / most->freedom) * most->variance, sum;
	bool raised = less->variance < floor;
	double variance = raised ? floor : less->variance;
	double freedom = raised ? most->freedom : less->freedom;

	sum = most->variance + variance;
	if (!(sum > 0))
		return sum; /* NAN, or two runs without any variation: no doubt */
	return sqrt(sum) * track_t975(sum * sum /
				      (most->variance * most->variance / most->freedom +
				       variance * variance / freedom));
}

static void set_difference(const struct estimate *a, const struct estimate *b, double least,
			   struct compare_difference *ret)
{
	double half = half_width(a, b);

	*ret = (struct compare_difference){
		.a = a->value,
		.b = b->value,
		.change = b->value - a->value,
	};
	ret->low = ret->change - half;
	ret->high = ret->change + half;
	ret->differs = (ret->low > 0 || ret->high < 0) && fabs(ret->change) >= least;
}

/* Of the logarithm, whose interval is that of a ratio. */
static struct estimate relative(const struct estimate *estimate)
{
	struct estimate ret = *estimate;

	ret.variance /= ret.value * ret.value;
	return ret;
}

static void set_result(const struct estimate *a, const struct estimate *b, struct comparison *ret)
{
	struct estimate left = relative(a), right = relative(b);
	double half = half_width(&left, &right);

	ret->speedup = a->value / b->value;
	ret->low = ret->speedup * exp(-half);
	ret->high = ret->speedup * exp(half);
	if (isnan(half))
		ret->result = COMPARE_CANNOT_SAY;
	else if (ret->rows[COMPARE_STEP].differs)
		ret->result = ret->speedup > 1 ? COMPARE_FASTER : COMPARE_SLOWER;
	else if (ret->low < 1 / COMPARE_MOST_DOUBT || ret->high > COMPARE_MOST_DOUBT)
		ret->result = COMPARE_CANNOT_SAY;
	else
		ret->result = COMPARE_SAME;
}

void compare_runs(const struct compare_side *a, const struct compare_side *b,
		  struct comparison *ret)
{
	struct estimate left[COMPARE_ROWS], right[COMPARE_ROWS];
	int row;

	for (row = 0; row < COMPARE_ROWS; row++) {
		left[row] = track_estimate(&a->tracks[row], a->block);
		right[row] = track_estimate(&b->tracks[row], b->block);
	}
	for (row = 0; row < COMPARE_ROWS; row++) {
		bool of_load = row >= COMPARE_LOAD && row <= COMPARE_TRANSFER;
		double whole = left[of_load ? COMPARE_LOAD : COMPARE_STEP].value;

		set_difference(&left[row], &right[row],
			       row == COMPARE_STALL ? LEAST_POINTS : COMPARE_LEAST_SHARE * whole,
			       &ret->rows[row]);
	}
	set_result(&left[COMPARE_STEP], &right[COMPARE_STEP], ret);
}

const char *compare_row_name(enum compare_row row)
{
	return ROWS[row];
}

const char *compare_result_name(enum compare_result result)
{
	static const char *const names[COMPARE_RESULTS] = {
		[COMPARE_CANNOT_SAY] = "cannot_say",
		[COMPARE_SAME] = "no_difference",
		[COMPARE_FASTER] = "faster",
		[COMPARE_SLOWER] = "slower",
	};

	return names[result];
}
