/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice.h"

#include <math.h>
#include <string.h>

#define PAGEABLE_LEAST 0.5 /* of the bytes that go to the GPU */
#define UNSEEN         1.005 /* times the rate as it was: "1.00x" */
#define REMEDIES       3   /* for one cause, in the order in which they are tried */
#define NO_ROW         (-1)

const char *const advice_names[ADVICE_MAX] = {
#define ADVICE(constant, name) name,
	ADVICES(ADVICE)
#undef ADVICE
};

const char *const advice_useless_words[USELESS_MAX] = {
	[USELESS_LOADING_IS_NO_LIMIT] = "the training does not wait for data",
	[USELESS_CORES_ARE_USED] = "the cores are used up",
	[USELESS_WORKERS_NEVER_IDLE] = "the workers are never idle, so a longer queue "
				       "stays as empty",
	[USELESS_NOTHING_BEHIND] = "no finished batch stands behind an unfinished one",
	[USELESS_OTHER_LIMIT] = "the replay of this run shows no gain",
};

/*
 * What each cause asks for: the first remedy that applies and helps. The last one has a bound where
 * the replay predicts nothing, so that no cause is left without advice.
 */
static const enum advice_id REMEDY[CAUSE_MAX][REMEDIES] = {
	[CAUSE_LOADER_CAPACITY] = {ADVICE_MORE_LOADER_CAPACITY, ADVICE_REDUCE_CPU_PER_BATCH,
				   ADVICE_INSPECT_LOADS},
	[CAUSE_CPU_CONTENTION] = {ADVICE_REDUCE_CPU_PER_BATCH, ADVICE_MORE_LOADER_CAPACITY,
				  ADVICE_INSPECT_LOADS},
	[CAUSE_SLOW_WORKER] = {ADVICE_FIX_SLOW_WORKER, ADVICE_PREFETCH_OR_IN_ORDER_FALSE,
			       ADVICE_INSPECT_LOADS},
	[CAUSE_PERIODIC_SLOW_LOAD] = {ADVICE_BALANCE_LOADS, ADVICE_SMOOTH_SHARD_OPENING,
				      ADVICE_INSPECT_LOADS},
	[CAUSE_HEAD_OF_LINE] = {ADVICE_PREFETCH_OR_IN_ORDER_FALSE, ADVICE_INSPECT_LOADS},
	[CAUSE_INTERMITTENT_LOADER] = {ADVICE_STORAGE, ADVICE_INSPECT_LOADS},
	[CAUSE_COLD_CACHE] = {ADVICE_WARM_CACHE, ADVICE_INSPECT_LOADS},
	[CAUSE_EPOCH_START] = {ADVICE_PERSISTENT_WORKERS, ADVICE_CHEAPER_STARTS},
	[CAUSE_DELIVERY] = {ADVICE_REDUCE_DELIVERY_COST},
	[CAUSE_ISOLATED_STALL] = {ADVICE_FIND_EVENT},
	[CAUSE_MAIN_THREAD_PERIODIC] = {ADVICE_REDUCE_MAIN_THREAD_EVENT},
	[CAUSE_SINGLE_PROCESS] = {ADVICE_USE_WORKERS, ADVICE_REDUCE_CPU_PER_BATCH,
				  ADVICE_INSPECT_LOADS},
	[CAUSE_UNSEEN_LOADER] = {ADVICE_MARK_LOADS},
};

/* Other settings whose gain the replay predicts, whatever the cause. */
static const enum advice_id OTHERS[] = {
	ADVICE_MORE_LOADER_CAPACITY,
	ADVICE_PREFETCH_OR_IN_ORDER_FALSE,
	ADVICE_PERSISTENT_WORKERS,
	ADVICE_REDUCE_DELIVERY_COST,
};

/* All that is looked at. */
struct view {
	const struct batch_series *series;
	const struct finding *finding;
	const struct cause_input *input;
	const struct diagnosis *diagnosis;
};

/* Time that would not be spent, as a gain of throughput. */
static double gain_of(double share)
{
	return share < 1 ? 1 / (1 - share) - 1 : NAN;
}

/* The prediction that is this advice; of two, the better one. */
static int row_of(const struct whatif *whatif, enum advice_id id)
{
	/* The baseline is no advice's prediction. */
	static const int rows[ADVICE_MAX] = {
		[ADVICE_MORE_LOADER_CAPACITY] = WHATIF_WORKERS_X2,
		[ADVICE_PREFETCH_OR_IN_ORDER_FALSE] = WHATIF_IN_ORDER_FALSE,
		[ADVICE_FIX_SLOW_WORKER] = WHATIF_FIX_SLOW_WORKER,
		[ADVICE_USE_WORKERS] = WHATIF_USE_WORKERS,
		[ADVICE_REDUCE_CPU_PER_BATCH] = WHATIF_LOAD_HALF,
		[ADVICE_PERSISTENT_WORKERS] = WHATIF_PERSISTENT,
		[ADVICE_REDUCE_DELIVERY_COST] = WHATIF_DELIVERY,
	};
	const double *gain = whatif->gain;

	if (id == ADVICE_PREFETCH_OR_IN_ORDER_FALSE &&
	    (gain[WHATIF_PREFETCH_X4] > gain[WHATIF_IN_ORDER_FALSE] ||
	     isnan(gain[WHATIF_IN_ORDER_FALSE])))
		return WHATIF_PREFETCH_X4;
	return rows[id] ? rows[id] : NO_ROW;
}

/*
 * Whether a prediction is good enough to advise the step. If its range includes the run as it was,
 * or would be shown as "1.00x", it may bring nothing.
 */
static bool is_sure(const struct whatif *whatif, int row)
{
	double as_it_was = whatif->batches_per_s[WHATIF_BASELINE];

	return whatif->gain[row] > 0 && (whatif_may_be_shared(whatif, row) ||
					 !(whatif->low_per_s[row] < UNSEEN * as_it_was));
}

/* Whether the advice's words would be true of this run. */
static bool applies(const struct view *v, enum advice_id id)
{
	switch (id) {
	case ADVICE_NONE:
		return false;
	case ADVICE_PERSISTENT_WORKERS:
		return v->series->persistent != 1 && v->series->workers != 0;
	case ADVICE_STORAGE:
		return !v->input->loads || !load_reads_nothing(v->input->loads);
	case ADVICE_BALANCE_LOADS:
		return v->diagnosis->slow.every > 0;
	case ADVICE_USE_WORKERS:
		return v->series->workers == 0;
	default:
		return true;
	}
}

static const struct cause_cost *cost_of(const struct diagnosis *d, enum cause cause)
{
	static const struct cause_cost nothing;

	for (size_t i = 0; i < d->cause_count; i++)
		if (d->causes[i].cause == cause)
			return &d->causes[i];
	return &nothing;
}

/* A remedy's gain; that of the last one is a bound where no prediction is sure of one. */
static bool price(const struct view *v, enum cause cause, enum advice_id id, bool is_last,
		  struct advice *ret)
{
	const struct whatif *whatif = &v->diagnosis->whatif;
	int row = row_of(whatif, id);
	double most = NAN; /* fmin() ignores it */

	*ret = (struct advice){.id = id, .whatif = row, .gain = NAN};
	if (!applies(v, id))
		return false;
	if (row != NO_ROW && !isnan(whatif->gain[row])) {
		ret->gain = whatif->gain[row];
		if (is_sure(whatif, row) && (is_last || ret->gain >= ADVICE_GAIN))
			return true;
		if (!is_last)
			return false;
		most = whatif->high_per_s[row] / whatif->batches_per_s[WHATIF_BASELINE] - 1;
	}
	ret->whatif = NO_ROW;
	ret->is_bound = true;
	ret->gain = fmin(gain_of(cost_of(v->diagnosis, cause)->share), most);
	return true;
}

/* What the cause asks for. */
static bool remedy(const struct view *v, enum cause cause, struct advice *ret)
{
	for (size_t i = 0; i < REMEDIES && REMEDY[cause][i] != ADVICE_NONE; i++) {
		bool is_last = i + 1 == REMEDIES || REMEDY[cause][i + 1] == ADVICE_NONE;

		if (price(v, cause, REMEDY[cause][i], is_last, ret))
			return true;
	}
	return false;
}

static bool has(const struct advice_list *list, const struct advice *advice)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->steps[i].id == advice->id ||
		    (advice->whatif != NO_ROW && list->steps[i].whatif == advice->whatif))
			return true;
	return false;
}

bool advice_has(const struct advice_list *list, enum whatif_id id)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->steps[i].whatif == (int)id)
			return true;
	return false;
}

/* Ordered by gain after the first step; if there are too many, the last one goes. */
static void insert(struct advice_list *list, const struct advice *advice)
{
	size_t at;

	if (!(advice->gain >= ADVICE_GAIN) || has(list, advice))
		return;
	if (list->count == ADVICE_MOST) {
		if (!(advice->gain > list->steps[ADVICE_MOST - 1].gain))
			return;
		list->count--;
	}
	for (at = list->count++; at > 1 && list->steps[at - 1].gain < advice->gain; at--)
		list->steps[at] = list->steps[at - 1];
	list->steps[at] = *advice;
}

static bool is_about_loads(enum cause cause)
{
	return cause == CAUSE_LOADER_CAPACITY || cause == CAUSE_CPU_CONTENTION ||
	       cause == CAUSE_SINGLE_PROCESS;
}

/* What the run would gain if its loads did without this part. */
static int price_part(const struct view *v, double share, double *ret_gain)
{
	const struct whatif_wish wish = {.text = "",
					 .workers = -1,
					 .prefetch_factor = -1,
					 .in_order = -1,
					 .load_factor = 1 - fmin(share, 0.99)};
	struct whatif whatif = v->diagnosis->whatif;
	int r;

	whatif.wish_count = 0;
	r = whatif_ask(v->series, v->finding, &wish, 1, &whatif);
	*ret_gain = whatif.gain[WHATIF_MAX];
	return r;
}

/*
 * Where loading is the bottleneck, which part of a load to shorten first: as if that part took no
 * time.
 */
static int add_parts(const struct view *v, struct advice_list *list)
{
	const struct load_times *loads = v->input->loads;
	const struct diagnosis *d = v->diagnosis;
	int r = 0;

	if (!loads || (!is_about_loads(d->cause) && !is_about_loads(d->second)))
		return 0;
	const struct {
		enum advice_id id;
		double share;
	} parts[] = {
		{ADVICE_DECODE_BOUND, load_decode_share(loads)},
		{load_reads_small(loads) ? ADVICE_SMALL_READS : ADVICE_STORAGE_BOUND,
		 load_read_share(loads)},
	};

	for (size_t i = 0; r == 0 && i < ARRAY_COUNT(parts); i++) {
		struct advice advice = {.id = parts[i].id, .whatif = NO_ROW, .is_bound = true};

		if (parts[i].share < LOAD_LEAST)
			continue;
		r = price_part(v, parts[i].share, &advice.gain);
		if (r == 0)
			insert(list, &advice);
	}
	return r;
}

/*
 * What would bring more than the cause's own remedy, as twice the workers does whatever the cause,
 * is no second step. The table of predictions has it.
 */
static void add_others(const struct view *v, struct advice_list *list)
{
	struct advice advice;

	if (v->diagnosis->second != CAUSE_UNKNOWN && remedy(v, v->diagnosis->second, &advice))
		insert(list, &advice);
	for (size_t i = 0; i < ARRAY_COUNT(OTHERS); i++)
		if (price(v, CAUSE_UNKNOWN, OTHERS[i], false, &advice) && !advice.is_bound &&
		    !(advice.gain > list->steps[0].gain))
			insert(list, &advice);
}

/*
 * Copies from pageable memory are staged by the driver and hold up what follows. Pinned ones can
 * run beside kernels, which at most takes away the time in which nothing but copies ran: the gain's
 * bound. It goes beside the cause's own remedy, which is about other time.
 */
static void add_pageable(const struct gpu_use *gpu, struct advice_list *list)
{
	struct advice advice = {.id = ADVICE_PAGEABLE_H2D, .whatif = NO_ROW, .is_bound = true};

	if (!gpu || !(gpu->pageable_share >= PAGEABLE_LEAST))
		return;
	advice.gain = gain_of(gpu->exposed_share);
	insert(list, &advice);
}

/* Was a batch finished while an earlier one was waited for? */
static bool is_anything_behind(const struct batch_series *series)
{
	for (size_t i = 0; i < series->count; i++)
		if (series->state[i] & SERIES_STARVED && series->state[i] & SERIES_QUEUE)
			return true;
	return false;
}

static enum useless why(const struct view *v, enum whatif_id id)
{
	if (!v->finding->starved)
		return USELESS_LOADING_IS_NO_LIMIT;
	if (id == WHATIF_WORKERS_X2 && v->diagnosis->whatif.core_limited)
		return USELESS_CORES_ARE_USED;
	if (id == WHATIF_PREFETCH_X4 && v->finding->rho >= 1)
		return USELESS_WORKERS_NEVER_IDLE;
	if (id == WHATIF_IN_ORDER_FALSE && !is_anything_behind(v->series))
		return USELESS_NOTHING_BEHIND;
	return USELESS_OTHER_LIMIT;
}

/* Where batches are ready, or the iterator is what takes time, shorter loads are no help. */
static bool is_not_about_loads(const struct view *v)
{
	enum cause cause = v->diagnosis->cause;

	return !v->finding->starved || cause == CAUSE_DELIVERY || cause == CAUSE_EPOCH_START;
}

static void add_useless(const struct view *v, struct advice_list *list)
{
	static const enum whatif_id tried[] = {WHATIF_WORKERS_X2, WHATIF_PREFETCH_X4,
					       WHATIF_IN_ORDER_FALSE, WHATIF_PERSISTENT,
					       WHATIF_LOAD_HALF};

	for (size_t i = 0; i < ARRAY_COUNT(tried); i++) {
		if (!(v->diagnosis->whatif.gain[tried[i]] < ADVICE_GAIN) ||
		    advice_has(list, tried[i]) ||
		    (tried[i] == WHATIF_LOAD_HALF && !is_not_about_loads(v)))
			continue;
		list->useless[list->useless_count].id = tried[i];
		list->useless[list->useless_count++].why = why(v, tried[i]);
	}
}

int advice_give(const struct batch_series *series, const struct finding *finding,
		const struct cause_input *input, struct diagnosis *d)
{
	const struct view view = {series, finding, input, d};
	struct advice_list *list = &d->advice;
	int r = 0;

	memset(list, 0, sizeof(*list));
	if (d->cause == CAUSE_UNKNOWN)
		return 0;
	if (remedy(&view, d->cause, &list->steps[0])) {
		list->count = 1;
		r = add_parts(&view, list);
		add_others(&view, list);
	}
	add_pageable(input->gpu, list);
	if (!list->count)
		list->steps[list->count++] =
			(struct advice){.id = ADVICE_NONE, .whatif = NO_ROW, .gain = NAN};
	add_useless(&view, list);
	/* What to do, but not what it brings. */
	for (size_t i = 0; finding->is_doubtful && i < list->count; i++) {
		list->steps[i].gain = NAN;
		list->steps[i].is_bound = false;
	}
	return r;
}
