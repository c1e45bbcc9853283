/* SPDX-License-Identifier: Apache-2.0 */
/* period.c - tests periods on two series: each event counts 1, or its time (at most cap_ns). */
#include "analysis/period/period.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/fold.h"

#define PHASE_PROMOTE_MOST 3

#define BLOCK         8 /* rows in a block; half of them choose the phase measured in the others */
#define PROMOTE_SHARE 0.85
#define PROMOTE_LEAST 6 /* a block should hold at least this many events */

struct layout {
	struct fold_segment *segments;
	size_t segment_count;
	size_t ordinal; /* ordinal of the batch with which the first row begins */
	size_t most;    /* longest period that is tested by rows (fold.h) */
	double extra;   /* added to ln p: ln of the number of pairs of layout and series tested */
	bool is_cut;    /* segments end at breaks, so the phase may differ between segments */
};

struct best {
	const struct layout *layout;
	bool sparse; /* found by distances between events (events_long_period()), not by rows */
	size_t period;
	double log_p;
	double log_p_plain; /* log_p without the correction for similar rows (fold_memory()) */
};

struct search {
	const struct events_query *query;
	struct events events;
	struct layout layouts[3];
	size_t layout_count;
	size_t value_count;
	float *ns; /* the values of all segments, one segment after the other */
	float *x;
	double *sums, *squares;
	size_t windows;
	size_t workers;
	struct best best;
	struct best best_cut;
	double log_p_workers; /* log_p_plain of the period that is the number of workers */
	float *log_p_of;      /* ln p of each period, the least over all layouts and series */
};

_Static_assert(PERIOD_MOST == FOLD_MOST, "all periods that are folded");

static double add_rows(const struct search *s, size_t begin, size_t rows, size_t step,
		       size_t period, bool capped, double *phases)
{
	double sum = 0;

	for (size_t row = 0; row < rows; row += step) {
		for (size_t k = 0; k < period; k++) {
			double ns = (double)s->ns[begin + row * period + k];

			if (capped && ns > s->events.cap_ns)
				ns = s->events.cap_ns;
			phases[k] += ns;
			sum += ns;
		}
	}
	return sum;
}

static size_t highest(const double *values, size_t count)
{
	size_t best = 0, i;

	for (i = 1; i < count; i++)
		if (values[i] > values[best])
			best = i;
	return best;
}

/* Finds the phase with most time in k periods; ret[j]: its time in period j. Returns the sum. */
static double split(const double *phases, size_t period, size_t k, double *ret)
{
	double sum = 0;

	for (size_t phase = 0; phase < period; phase++) {
		double here = 0;

		for (size_t j = 0; j < k; j++)
			here += phases[phase + j * period];
		if (here <= sum)
			continue;
		sum = here;
		for (size_t j = 0; j < k; j++)
			ret[j] = phases[phase + j * period];
	}
	return sum;
}

/*
 * Returns true if the true period is k times `period`. At the phase with most time, one period in k
 * then has nearly all of that time. `scratch` has room for k * period numbers.
 */
static bool phase_is_multiple(const struct search *s, const struct layout *layout, size_t period,
			      size_t k, double *scratch)
{
	size_t wide = period * k, rows_a_block = BLOCK, rows = 0, i, row;
	double weight = 0, dominant = 0, events;

	for (i = 0; i < layout->segment_count; i++)
		rows += layout->segments[i].count / wide;
	if (rows < 3)
		return false;
	events = (double)s->events.count / (double)s->events.position_count * (double)wide;
	if (events * BLOCK < PROMOTE_LEAST)
		rows_a_block = (size_t)ceil(PROMOTE_LEAST / events);
	for (i = 0; i < layout->segment_count; i++) {
		const struct fold_segment *segment = &layout->segments[i];
		size_t begin = segment->begin + fold_first_row(segment, wide);
		size_t end = segment->begin + segment->count;

		for (; begin + wide <= end; begin += row * wide) {
			double sums[PHASE_PROMOTE_MOST] = {0};

			row = (end - begin) / wide;
			row = row < rows_a_block ? row : rows_a_block;
			memset(scratch, 0, wide * sizeof(*scratch));
			add_rows(s, begin, row, 1, wide, true, scratch);
			weight += split(scratch, period, k, sums);
			dominant += sums[highest(sums, k)];
		}
	}
	return weight > 0 && dominant > PROMOTE_SHARE * weight;
}

/*
 * Returns the share of the time at the phase with most time. That phase is chosen in even rows and
 * measured in odd rows, and vice versa. `scratch` has room for 3 * period numbers.
 */
static double phase_share(const struct search *s, const struct layout *layout, size_t period,
			  double *scratch, size_t *ret_phase)
{
	double *choose = scratch, *check = scratch + period, *totals = check + period;
	double at_phase = 0, all = 0;
	size_t i, k, rows, half;

	memset(totals, 0, period * sizeof(*totals));
	for (i = 0; i < layout->segment_count; i++) {
		const struct fold_segment *segment = &layout->segments[i];
		size_t begin = segment->begin + fold_first_row(segment, period);
		size_t end = segment->begin + segment->count;

		for (; begin + 2 * period <= end; begin += rows * period) {
			rows = (end - begin) / period;
			rows = rows < BLOCK ? rows : BLOCK;
			for (half = 0; half < 2; half++) {
				memset(scratch, 0, 2 * period * sizeof(*scratch));
				add_rows(s, begin + half * period, rows - half, 2, period, false,
					 choose);
				all += add_rows(s, begin + (1 - half) * period, rows - (1 - half),
						2, period, false, check);
				at_phase += check[highest(choose, period)];
				for (k = 0; k < period; k++)
					totals[k] += check[k];
			}
		}
	}
	*ret_phase = highest(totals, period);
	return all > 0 ? at_phase / all : 0;
}

#define FEWEST_BATCHES 12
#define FEWEST_EVENTS  3
#define WINDOW         ((size_t)1 << 14)
#define WINDOWS        64 /* a longer series is tested in this many windows only */
#define FEW_WINDOWS    16
#define SPREAD         16 /* windows cover at most this many ordinals for each recorded batch */
#define BEYOND_DOUBT   (-100.0)
#define PIECE_LEAST    12 /* values are cut at breaks (events.h) if pieces have this many batches */
#define WORKER_SHARE   0.60
#define WORKER_PERIODS 4
#define SHARE_LEAST    0.5
#define SHARE_FACTOR   1.5
#define GAPS_LEAST     16
#define GAPS_CV        0.15
#define GAPS_SHORTEST  3

/* Returns ln of the factor by which trying many periods raises p. */
static double log_candidates(const struct search *s, size_t period, size_t count)
{
	/* The first WORKER_PERIODS multiples of the workers' number get half of the error rate. */
	if (s->workers > 1 && period % s->workers == 0 && period / s->workers <= WORKER_PERIODS)
		return log(8);
	return log((double)count) + (s->workers > 1 ? log(2) : 0);
}

/* Makes the series of capped times, or of ones. Returns false if all its values are equal. */
static bool set_series(struct search *s, bool capped, struct fold_series *ret)
{
	float cap_ns = (float)s->events.cap_ns, lowest = 1, highest = 0;
	double sum = 0, square = 0;
	size_t i;

	for (i = 0; i < s->value_count; i++) {
		float x = s->ns[i] > 0 ? 1 : 0;

		if (capped && s->ns[i] < cap_ns)
			x = s->ns[i] / cap_ns;
		s->x[i] = x;
		s->sums[i] = sum;
		s->squares[i] = square;
		sum += (double)x;
		square += (double)(x * x);
		lowest = x < lowest ? x : lowest;
		highest = x > highest ? x : highest;
	}
	s->sums[i] = sum;
	s->squares[i] = square;
	*ret = (struct fold_series){
		.x = s->x, .sums = s->sums, .squares = s->squares, .highest = highest};
	return highest > lowest;
}

static void offer(struct search *s, const struct best *found)
{
	if (found->log_p < s->best.log_p)
		s->best = *found;
	if (found->layout->is_cut && found->log_p < s->best_cut.log_p)
		s->best_cut = *found;
}

/* Tests all periods. fold_memory() is slow, so it corrects only the period that has the least p. */
static void try_layout(struct search *s, const struct layout *layout, struct fold_series *series)
{
	double plain[FOLD_MOST + 1], log_p[FOLD_MOST + 1];
	bool corrected[FOLD_MOST + 1] = {false};
	size_t count = layout->most - 1, period, best = 2;

	series->segments = layout->segments;
	series->segment_count = layout->segment_count;
	series->by_segment = layout->is_cut;
	for (period = 2; period <= layout->most; period++) {
		double extra = log_candidates(s, period, count) + layout->extra;

		plain[period] = log_p[period] = fold_log_p(series, period, 1) + extra;
	}
	for (;;) {
		double factor;

		for (period = best = 2; period <= layout->most; period++)
			if (log_p[period] < log_p[best])
				best = period;
		/* Corrections only raise p, so an insignificant period needs none. */
		if (corrected[best] || log_p[best] >= log(PERIOD_ALPHA))
			break;
		corrected[best] = true;
		factor = fold_memory(series, best);
		if (factor < 1)
			log_p[best] = fold_log_p(series, best, factor) +
				      log_candidates(s, best, count) + layout->extra;
	}
	for (period = 2; period <= layout->most; period++)
		if (log_p[period] < (double)s->log_p_of[period])
			s->log_p_of[period] = (float)log_p[period];
	if (s->workers > 1 && s->workers <= layout->most)
		s->log_p_workers = fmin(s->log_p_workers, plain[s->workers]);
	offer(s, &(struct best){
			 .layout = layout,
			 .period = best,
			 .log_p = log_p[best],
			 .log_p_plain = plain[best],
		 });
}

static int try_long(struct search *s, const struct layout *layout, bool capped)
{
	bool is_dense = s->value_count >= s->events.position_count;
	struct best found = {.layout = layout, .sparse = true};
	const struct fold_segment whole = {.count = s->events.position_count};
	bool by_epoch = layout->segments == s->events.epochs;
	size_t most = s->events.position_count / 3;
	int r;

	if (!s->events.list || layout->is_cut || (is_dense && most <= FOLD_MOST))
		return 0;
	/* The list also has events outside of the layout's windows, so it is tested as a whole. */
	r = events_long_period(&s->events, by_epoch ? layout->segments : &whole,
			       by_epoch ? layout->segment_count : 1, capped,
			       is_dense ? FOLD_MOST : 1, most, &found.period, &found.log_p);
	found.log_p += layout->extra;
	if (found.period)
		offer(s, &found);
	return r;
}

static size_t find_most(const struct layout *layout)
{
	size_t count = 0, i;

	for (i = 0; i < layout->segment_count; i++) {
		size_t here = layout->segments[i].count;

		if (!layout->is_cut)
			count += here;
		else if (here > count)
			count = here;
	}
	count /= 3;
	return count > FOLD_MOST ? FOLD_MOST : count;
}

static int lay_out(struct search *s)
{
	const struct events *events = &s->events;
	bool is_small = events->position_count <= s->windows * WINDOW;
	struct layout *layout = &s->layouts[0];

	s->value_count = is_small ? events->position_count : s->windows * WINDOW;
	s->ns = malloc((s->value_count + 1) * sizeof(*s->ns));
	if (!s->ns)
		return -ENOMEM;
	if (is_small) {
		events_spread(s->query, 0, s->value_count, s->ns);
		layout->segments = events->epochs;
		layout->segment_count = events->epoch_count;
		layout->ordinal = events->first_ordinal;
		s->layout_count = 1;
	}
	if (is_small && events->epoch_count < 2)
		return 0;
	layout = &s->layouts[s->layout_count++];
	layout->segment_count = is_small ? 1 : s->windows;
	layout->segments = calloc(layout->segment_count, sizeof(*layout->segments));
	if (!layout->segments)
		return -ENOMEM;
	if (is_small) {
		layout->segments[0].count = s->value_count;
		return 0;
	}
	for (size_t i = 0; i < s->windows; i++) {
		size_t from = i ? (size_t)((double)(events->position_count - WINDOW) * (double)i /
					   (double)(s->windows - 1))
				: 0;

		events_spread(s->query, from, WINDOW, s->ns + i * WINDOW);
		layout->segments[i] = (struct fold_segment){i * WINDOW, WINDOW, from};
	}
	return 0;
}

/* Adds a copy of the first layout, cut at breaks (events.h), if there are few breaks. */
static int lay_out_pieces(struct search *s)
{
	const struct layout *from = &s->layouts[0];
	struct layout *to = &s->layouts[s->layout_count];
	bool is_epochs = from->segments == s->events.epochs;
	struct events breaks;
	size_t at = 0, i;
	int r;

	if (!s->query->breaks || !s->query->breaks->values)
		return 0;
	r = events_find(s->query->breaks, &breaks);
	if (r == 0 && breaks.list && breaks.count &&
	    breaks.count * PIECE_LEAST <= s->events.position_count) {
		*to = (struct layout){.ordinal = from->ordinal, .is_cut = true};
		to->segments = calloc(from->segment_count + breaks.count, sizeof(*to->segments));
		if (!to->segments)
			r = -ENOMEM;
		for (i = 0; r == 0 && i < from->segment_count; i++)
			to->segment_count += events_cut(&breaks, &from->segments[i],
							is_epochs ? from->segments[i].begin
								  : from->segments[i].lead,
							&at, &to->segments[to->segment_count]);
		s->layout_count += r == 0;
	}
	events_done(&breaks);
	return r;
}

static int run_tests(struct search *s)
{
	struct fold_series series;
	size_t i, series_count = 0;
	bool useful[2];
	int capped, r = 0;

	s->x = malloc((s->value_count + 1) * sizeof(*s->x));
	s->sums = malloc((s->value_count + 1) * sizeof(*s->sums));
	s->squares = malloc((s->value_count + 1) * sizeof(*s->squares));
	if (!s->x || !s->sums || !s->squares)
		return -ENOMEM;
	for (capped = 0; capped < 2; capped++)
		series_count += useful[capped] = set_series(s, capped, &series);
	for (i = 0; i < s->layout_count; i++) {
		s->layouts[i].most = find_most(&s->layouts[i]);
		s->layouts[i].extra = log((double)(s->layout_count * series_count));
	}
	for (capped = 0; r == 0 && capped < 2; capped++) {
		if (!useful[capped])
			continue;
		set_series(s, capped, &series);
		for (i = 0; r == 0 && i < s->layout_count; i++) {
			if (s->layouts[i].most >= 2)
				try_layout(s, &s->layouts[i], &series);
			r = try_long(s, &s->layouts[i], capped);
		}
	}
	return r;
}

static const struct layout *layout_for(const struct search *s, const struct best *best,
				       size_t period)
{
	const struct layout *last = &s->layouts[s->layout_count - 1];

	return last->is_cut && period <= last->most ? last : best->layout;
}

static void adjust(const struct search *s, struct best *best, double *scratch)
{
	size_t k = 2;

	while (k <= PHASE_PROMOTE_MOST) {
		const struct layout *layout = layout_for(s, best, best->period * k);

		if (best->period * k <= layout->most &&
		    phase_is_multiple(s, layout, best->period, k, scratch)) {
			best->period *= k;
			k = 2;
		} else {
			k++;
		}
	}
	if (s->workers > 1 && best->period < s->workers && s->workers % best->period == 0 &&
	    s->log_p_workers < WORKER_SHARE * best->log_p_plain)
		best->period = s->workers;
}

static void measure(const struct search *s, struct best *best, double *scratch, struct period *ret)
{
	size_t phase = 0;

	if (best->sparse) {
		ret->share = events_share(&s->events, best->period, BLOCK, &phase);
	} else {
		const struct layout *layout;

		adjust(s, best, scratch);
		layout = layout_for(s, best, best->period);
		ret->share = phase_share(s, layout, best->period, scratch, &phase);
		phase = (phase + layout->ordinal) % best->period;
	}
	ret->phase = (int64_t)phase;
	ret->batches = (int64_t)best->period;
	ret->log_p = fmin(0, best->log_p);
	ret->regular = ret->share >= fmax(SHARE_LEAST, SHARE_FACTOR / (double)ret->batches);
	ret->cost_ns = ret->share * ret->events_ns;
}

/* Describes the best period or, if it is irregular, a regular one in the pieces between breaks. */
static int describe(struct search *s, struct period *ret)
{
	double *scratch = calloc(PHASE_PROMOTE_MOST * FOLD_MOST, sizeof(*scratch));
	struct best between = s->best_cut;

	if (!scratch)
		return -ENOMEM;
	measure(s, &s->best, scratch, ret);
	if (!ret->regular && between.log_p < log(PERIOD_ALPHA)) {
		struct period other = *ret;

		measure(s, &between, scratch, &other);
		if (other.regular)
			*ret = other;
	}
	free(scratch);
	return 0;
}

/* Finds a period if gaps are equal (CV <= .15; random ones have 1, or .4 after a dead time). */
static int find_gaps(const struct search *s, struct period *ret)
{
	struct event_gaps gaps;
	int r = events_gaps(&s->events, &gaps);

	if (r < 0)
		return r;
	ret->large_count = gaps.large_count;
	ret->large_ns = gaps.large_ns;
	if (!s->query->slips || ret->batches || gaps.gap_count < GAPS_LEAST ||
	    !(gaps.cv <= GAPS_CV) || gaps.mode < GAPS_SHORTEST)
		return 0;
	ret->batches = (int64_t)gaps.mode;
	ret->drifting = true;
	ret->share = gaps.large_ns / ret->events_ns;
	ret->regular = ret->share >= fmax(SHARE_LEAST, SHARE_FACTOR / (double)ret->batches);
	ret->cost_ns = gaps.large_ns;
	return 0;
}

static void forget(struct search *s)
{
	for (size_t i = 0; i < ARRAY_COUNT(s->layouts); i++)
		if (s->layouts[i].segments != s->events.epochs)
			free(s->layouts[i].segments);
	free(s->x);
	free(s->sums);
	free(s->squares);
	free(s->ns);
	s->x = s->ns = NULL;
	s->sums = s->squares = NULL;
	memset(s->layouts, 0, sizeof(s->layouts));
	s->layout_count = 0;
	s->best = s->best_cut = (struct best){0};
	s->log_p_workers = 0;
}

/* Returns how many windows there may be: huge ordinals, as in a damaged file, add none. */
static size_t find_most_windows(const struct search *s)
{
	size_t most = s->query->series->count / (WINDOW / SPREAD);

	if (most < 1)
		return 1;
	return most < WINDOWS ? most : WINDOWS;
}

static int search_period(struct search *s)
{
	size_t most = find_most_windows(s);
	int r;

	for (s->windows = most < FEW_WINDOWS ? most : FEW_WINDOWS;; s->windows = most) {
		r = lay_out(s);
		if (r == 0)
			r = lay_out_pieces(s);
		if (r == 0)
			r = run_tests(s);
		if (r < 0 || s->windows == most || s->best.log_p < BEYOND_DOUBT ||
		    s->value_count >= s->events.position_count)
			return r;
		forget(s);
		memset(s->log_p_of, 0, (PERIOD_MOST + 1) * sizeof(*s->log_p_of));
	}
}

int period_find(const struct events_query *query, struct period *ret)
{
	struct search s = {.query = query, .log_p_of = ret->log_p_of};
	int32_t busy = series_busy_workers(query->series);
	int r;

	*ret = (struct period){0};
	if (!query->values)
		return 0;
	s.workers = busy > 1 ? (size_t)busy : 0;
	r = events_find(query, &s.events);
	ret->event_count = s.events.count;
	ret->events_ns = s.events.ns;
	if (r == 0 && s.events.count >= FEWEST_EVENTS &&
	    s.events.position_count >= FEWEST_BATCHES) {
		ret->tested = true;
		r = search_period(&s);
		ret->log_p = fmin(0, s.best.log_p);
		if (r == 0 && ret->log_p < log(PERIOD_ALPHA))
			r = describe(&s, ret);
	}
	if (r == 0)
		r = find_gaps(&s, ret);
	forget(&s);
	events_done(&s.events);
	return r;
}
