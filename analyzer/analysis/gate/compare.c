/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/gate/compare.h"

#include <math.h>

#include "analysis/account/boot.h"

/* a shared limit shows only if one run has at least this many times the workers of the other */
#define SHARED_WORKERS   1.25
/* workers share a limit if load time grows with at least this power of the number of workers */
#define SHARED_PART      0.75
#define LEAST_POINTS     0.02
#define FEW_BLOCKS       6

bool compare_is_shared(const struct comparison *c, double workers_a, double workers_b)
{
	const struct compare_difference *load = &c->rows[COMPARE_LOAD];
	double workers = fabs(log(workers_b / workers_a)), loads = log(load->b / load->a);

	if (!(workers_a > 0 && workers_b > 0) || !(workers >= log(SHARED_WORKERS)) ||
	    !load->differs)
		return false;
	return loads * (workers_b > workers_a ? 1 : -1) >= SHARED_PART * workers;
}

const char *const compare_row_names[COMPARE_ROWS] = {
#define X(id, name, label) name,
	COMPARE_ROWS_LIST(X)
#undef X
};

struct value {
	enum compare_row row;
	double numerator, denominator;
};

static int add(struct compare_side *side, const struct value *values, size_t count)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++)
		if (!isnan(values[i].numerator) && values[i].denominator > 0)
			r = track_add(&side->tracks[values[i].row], values[i].numerator,
				      values[i].denominator);
	return r;
}

/* Adds a batch. `restart` is 0 unless the batch begins an epoch. */
static int add_batch(struct compare_side *side, const struct batch_series *s,
		     const struct finding *f, const struct series_place *place,
		     const struct account_restart *restart)
{
	const size_t i = place->i;
	const bool is_start = place->batch < account_start_count(s->workers);
	/* Values divided by 0 are left out: the run's first wait is start-up. */
	const double waits = i > 0 || s->is_part;
	const double own_ns = series_known(s->wait_ns, i), seen = isnan(own_ns) ? 0 : waits;
	const double restart_ns = restart->start_ns + restart->end_ns;
	const double compute_ns = series_known(s->compute_ns, i);
	const double step_ns = own_ns + restart_ns + compute_ns;
	const double counted_ns = series_known(stall_waits(s, f), i) + restart_ns;
	const bool has_stall = f->gap == STALL_GAP_NONE && waits > 0;
	const struct account_wait parts =
		account_divide(s->workers, own_ns, series_known(s->handover_ns, i),
			       series_known(s->sample_ns, i));
	const struct value values[] = {
		{COMPARE_STEP, isnan(step_ns) ? series_known(s->step_ns, i) : step_ns, waits},
		{COMPARE_WAIT, own_ns + restart_ns, waits},
		{COMPARE_RECEIVING, is_start ? 0 : parts.receiving_ns, waits},
		{COMPARE_SAMPLING, is_start ? 0 : parts.sampling_ns, waits},
		{COMPARE_EPOCH_START, restart->start_ns + (is_start ? own_ns : 0), seen},
		{COMPARE_EPOCH_END, restart->end_ns, seen},
		{COMPARE_COMPUTE, compute_ns, 1},
		{COMPARE_GPU_BUSY, series_known(s->gpu_busy_ns, i), 1},
		{COMPARE_GPU_IDLE, series_known(s->gpu_idle_ns, i), 1},
		{COMPARE_STALL, counted_ns, has_stall ? counted_ns + stall_demand_ns(s, f, i) : 0},
	};

	return add(side, values, ARRAY_COUNT(values));
}

int compare_add_series(struct compare_side *side, const struct batch_series *series,
		       const struct finding *finding)
{
	struct series_place place = SERIES_BEGIN;
	size_t next = 0;
	int r = 0;

	side->block = boot_block(series);
	side->stall_ratio = finding->gap == STALL_GAP_NONE ? finding->stall_ratio : NAN;
	while (r == 0 && series_next(series, &place)) {
		const struct account_restart restart = account_restart(series, &next, place.epoch);

		r = add_batch(side, series, finding, &place, &restart);
	}
	return r;
}

int compare_add_times(struct compare_side *side, const struct load_times *times, double transfer_ns,
		      const double part_ns[STEP_TOLD_MAX])
{
	const struct value values[] = {
		{COMPARE_LOAD, times->load_ns, 1},
		{COMPARE_OPEN, times->open_ns, 1},
		{COMPARE_READ, times->read_ns, 1},
		{COMPARE_DECODE, times->decode_ns, 1},
		{COMPARE_COLLATE, times->collate_ns, 1},
		{COMPARE_OTHER, times->other_ns, 1},
		{COMPARE_TRANSFER, transfer_ns, 1},
		{COMPARE_BEFORE, part_ns[STEP_BEFORE], 1},
		{COMPARE_BACKWARD, part_ns[STEP_BACKWARD], 1},
		{COMPARE_BETWEEN, part_ns[STEP_BETWEEN], 1},
		{COMPARE_OPTIMIZER, part_ns[STEP_OPTIMIZER], 1},
		{COMPARE_SAVE, part_ns[STEP_SAVE], 1},
	};

	return add(side, values, ARRAY_COUNT(values));
}

void compare_side_done(struct compare_side *side)
{
	for (int row = 0; row < COMPARE_ROWS; row++)
		track_done(&side->tracks[row]);
}

/* Returns half of Welch's interval. The lesser variance is raised: a run may miss rare bursts. */
static double half_width(const struct estimate *a, const struct estimate *b)
{
	const struct estimate *most = a->variance > b->variance ? a : b, *less = most == a ? b : a;
	double floor = fmin(1, FEW_BLOCKS / most->freedom) * most->variance, sum;
	bool raised = less->variance < floor;
	double variance = raised ? floor : less->variance;
	double freedom = raised ? most->freedom : less->freedom;

	sum = most->variance + variance;
	if (!(sum > 0))
		return sum; /* NAN, or 0 if neither run varies */
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

/* Returns `estimate` with its logarithm's variance, as the interval is that of ln a - ln b. */
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

	for (int row = 0; row < COMPARE_ROWS; row++) {
		left[row] = track_estimate(&a->tracks[row], a->block);
		right[row] = track_estimate(&b->tracks[row], b->block);
	}
	left[COMPARE_STALL].value = a->stall_ratio;
	right[COMPARE_STALL].value = b->stall_ratio;
	for (int row = 0; row < COMPARE_ROWS; row++) {
		bool of_load = row >= COMPARE_LOAD && row <= COMPARE_TRANSFER;
		double whole = left[of_load ? COMPARE_LOAD : COMPARE_STEP].value;

		set_difference(&left[row], &right[row],
			       row == COMPARE_STALL ? LEAST_POINTS : COMPARE_LEAST_SHARE * whole,
			       &ret->rows[row]);
	}
	set_result(&left[COMPARE_STEP], &right[COMPARE_STEP], ret);
}

const char *const compare_result_names[COMPARE_RESULTS] = {
	[COMPARE_CANNOT_SAY] = "cannot_say",
	[COMPARE_SAME] = "no_difference",
	[COMPARE_FASTER] = "faster",
	[COMPARE_SLOWER] = "slower",
};
