/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice.h"

#include <math.h>
#include <string.h>

#define PAGEABLE_LEAST 0.5 /* of the bytes that go to the GPU */

const char *advice_name(enum advice_id id)
{
	static const char *const names[ADVICE_MAX] = {
		[ADVICE_NONE] = "none",
		[ADVICE_MORE_LOADER_CAPACITY] = "more_loader_capacity",
		[ADVICE_PREFETCH_OR_IN_ORDER_FALSE] = "prefetch_or_in_order_false",
		[ADVICE_FIX_SLOW_WORKER] = "fix_slow_worker",
		[ADVICE_PERSISTENT_WORKERS] = "persistent_workers",
		[ADVICE_REDUCE_CPU_PER_BATCH] = "reduce_cpu_per_batch",
		[ADVICE_WARM_CACHE] = "warm_cache",
		[ADVICE_SMOOTH_SHARD_OPENING] = "smooth_shard_opening",
		[ADVICE_STORAGE] = "storage",
		[ADVICE_REDUCE_DELIVERY_COST] = "reduce_delivery_cost",
		[ADVICE_REDUCE_MAIN_THREAD_EVENT] = "reduce_main_thread_event",
		[ADVICE_USE_WORKERS] = "use_workers",
		[ADVICE_PAGEABLE_H2D] = "pageable_h2d",
		[ADVICE_DECODE_BOUND] = "decode_bound",
		[ADVICE_STORAGE_BOUND] = "storage_bound",
		[ADVICE_SMALL_READS] = "small_reads",
		[ADVICE_MARK_LOADS] = "mark_loads",
	};

	return names[id];
}

const char *advice_useless_name(enum useless why)
{
	static const char *const names[USELESS_MAX] = {
		[USELESS_LOADING_IS_NO_LIMIT] = "the training does not wait for data",
		[USELESS_CORES_ARE_USED] = "the cores are used up",
		[USELESS_WORKERS_NEVER_IDLE] = "the workers are never idle, so a longer queue "
					       "stays as empty",
		[USELESS_NOTHING_BEHIND] = "no finished batch stands behind an unfinished one",
		[USELESS_OTHER_LIMIT] = "the replay of this run shows no gain",
	};

	return names[why];
}

/* What each cause asks for first. */
static const enum advice_id FIRST[CAUSE_MAX] = {
	[CAUSE_LOADER_CAPACITY] = ADVICE_MORE_LOADER_CAPACITY,
	[CAUSE_CPU_CONTENTION] = ADVICE_REDUCE_CPU_PER_BATCH,
	[CAUSE_SLOW_WORKER] = ADVICE_FIX_SLOW_WORKER,
	[CAUSE_PERIODIC_SLOW_LOAD] = ADVICE_SMOOTH_SHARD_OPENING,
	[CAUSE_HEAD_OF_LINE] = ADVICE_PREFETCH_OR_IN_ORDER_FALSE,
	[CAUSE_INTERMITTENT_LOADER] = ADVICE_STORAGE,
	[CAUSE_COLD_CACHE] = ADVICE_WARM_CACHE,
	[CAUSE_EPOCH_START] = ADVICE_PERSISTENT_WORKERS,
	[CAUSE_DELIVERY] = ADVICE_REDUCE_DELIVERY_COST,
	[CAUSE_MAIN_THREAD_PERIODIC] = ADVICE_REDUCE_MAIN_THREAD_EVENT,
	[CAUSE_SINGLE_PROCESS] = ADVICE_USE_WORKERS,
	[CAUSE_UNSEEN_LOADER] = ADVICE_MARK_LOADS,
};

/* What else the replay can price. */
static const enum advice_id OTHERS[] = {
	ADVICE_MORE_LOADER_CAPACITY,
	ADVICE_PREFETCH_OR_IN_ORDER_FALSE,
	ADVICE_REDUCE_CPU_PER_BATCH,
};

/* Time that would not be spent, as a gain of throughput. */
static double gain_of(double share)
{
	return share < 1 ? 1 / (1 - share) - 1 : NAN;
}

static struct advice price(enum advice_id id, const struct finding *finding,
			   const struct whatif *whatif, double lost_share)
{
	const double *gain = whatif->gain;
	struct advice advice = {.id = id, .gain = NAN};

	switch (id) {
	case ADVICE_MORE_LOADER_CAPACITY:
		advice.gain = fmax(gain[WHATIF_WORKERS_X2], gain[WHATIF_LOAD_HALF]);
		break;
	case ADVICE_PREFETCH_OR_IN_ORDER_FALSE:
		advice.gain = fmax(gain[WHATIF_PREFETCH_X4], gain[WHATIF_IN_ORDER_FALSE]);
		break;
	case ADVICE_FIX_SLOW_WORKER:
		advice.gain = gain[WHATIF_FIX_SLOW_WORKER];
		break;
	case ADVICE_USE_WORKERS:
		advice.gain = gain[WHATIF_USE_WORKERS];
		break;
	case ADVICE_REDUCE_CPU_PER_BATCH:
		advice.gain = gain[WHATIF_LOAD_HALF];
		break;
	case ADVICE_SMOOTH_SHARD_OPENING:
	case ADVICE_STORAGE:
	case ADVICE_MARK_LOADS:
		advice.gain = finding->gain_max - 1;
		advice.is_bound = true;
		break;
	case ADVICE_PERSISTENT_WORKERS:
		advice.gain = gain_of(account_restart_share(&finding->account));
		advice.is_bound = true;
		break;
	case ADVICE_REDUCE_DELIVERY_COST:
		advice.gain = gain_of(finding->account.share[ACCOUNT_RECEIVING]);
		advice.is_bound = true;
		break;
	case ADVICE_WARM_CACHE:
	case ADVICE_REDUCE_MAIN_THREAD_EVENT:
		advice.gain = gain_of(lost_share);
		advice.is_bound = true;
		break;
	case ADVICE_PAGEABLE_H2D:
	case ADVICE_DECODE_BOUND:
	case ADVICE_STORAGE_BOUND:
	case ADVICE_SMALL_READS:
	case ADVICE_NONE:
	case ADVICE_MAX:
		break;
	}
	return advice;
}

static bool has(const struct advice_list *list, enum advice_id id)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (list->steps[i].id == id)
			return true;
	return false;
}

/*
 * The cause's own remedy comes first. Others follow by gain; one that would bring more than it (as
 * halving every load does, whatever the cause) is no second step, and stands in the table of
 * predictions.
 */
static void add_others(const struct finding *finding, const struct whatif *whatif,
		       struct advice_list *ret)
{
	while (ret->count < ADVICE_MOST) {
		struct advice best = {.gain = ADVICE_GAIN};
		size_t i;

		for (i = 0; i < sizeof(OTHERS) / sizeof(*OTHERS); i++) {
			struct advice other = price(OTHERS[i], finding, whatif, NAN);

			/* It is the CPU's price only where the CPU is what is short. */
			if (has(ret, other.id) || other.id == ADVICE_REDUCE_CPU_PER_BATCH)
				continue;
			if (other.gain >= best.gain && !(other.gain > ret->steps[0].gain))
				best = other;
		}
		if (best.id == ADVICE_NONE)
			return;
		ret->steps[ret->count++] = best;
	}
}

/* Was a batch finished while an earlier one was waited for? */
static bool is_anything_behind(const struct batch_series *series)
{
	size_t i;

	for (i = 0; i < series->count; i++)
		if (series->state[i] & SERIES_STARVED && series->state[i] & SERIES_QUEUE)
			return true;
	return false;
}

static void add_useless(const struct batch_series *series, const struct finding *finding,
			const struct whatif *whatif, struct advice_list *ret)
{
	static const enum whatif_id tried[] = {WHATIF_WORKERS_X2, WHATIF_PREFETCH_X4,
					       WHATIF_IN_ORDER_FALSE, WHATIF_LOAD_HALF};
	size_t i;

	for (i = 0; i < sizeof(tried) / sizeof(*tried); i++) {
		enum whatif_id id = tried[i];
		enum useless why = USELESS_OTHER_LIMIT;

		if (!(whatif->gain[id] < ADVICE_GAIN))
			continue;
		if (!finding->starved)
			why = USELESS_LOADING_IS_NO_LIMIT;
		else if (id == WHATIF_WORKERS_X2 && whatif->core_limited)
			why = USELESS_CORES_ARE_USED;
		else if (id == WHATIF_PREFETCH_X4 && finding->rho >= 1)
			why = USELESS_WORKERS_NEVER_IDLE;
		else if (id == WHATIF_IN_ORDER_FALSE && !is_anything_behind(series))
			why = USELESS_NOTHING_BEHIND;
		ret->useless[ret->useless_count].id = id;
		ret->useless[ret->useless_count++].why = why;
	}
}

void advice_insert(struct advice_list *list, struct advice advice)
{
	size_t at;

	if (list->steps[0].id == ADVICE_NONE)
		list->count = 0;
	if (list->count == ADVICE_MOST)
		list->count--;
	for (at = list->count++; at > 1 && list->steps[at - 1].gain < advice.gain; at--)
		list->steps[at] = list->steps[at - 1];
	list->steps[at] = advice;
}

/*
 * Copies from pageable memory are staged by the driver and hold up what follows. Pinned ones can
 * run beside kernels, which at most takes away the time in which nothing but copies ran: the gain's
 * bound. It goes beside the cause's own remedy, which is about other time.
 */
static void add_pageable(const struct gpu_use *gpu, struct advice_list *ret)
{
	struct advice advice = {.id = ADVICE_PAGEABLE_H2D, .is_bound = true};

	if (!gpu || !(gpu->pageable_share >= PAGEABLE_LEAST))
		return;
	advice.gain = gain_of(gpu->exposed_share);
	if (advice.gain >= ADVICE_GAIN)
		advice_insert(ret, advice);
}

void advice_give(enum cause cause, const struct batch_series *series, const struct finding *finding,
		 const struct whatif *whatif, const struct gpu_use *gpu, double lost_share,
		 struct advice_list *ret)
{
	enum advice_id id = FIRST[cause];

	memset(ret, 0, sizeof(*ret));
	if (cause == CAUSE_UNKNOWN)
		return;
	if (id == ADVICE_PERSISTENT_WORKERS && series->persistent == 1)
		id = ADVICE_NONE;
	ret->steps[0] = price(id, finding, whatif, lost_share);
	ret->count = 1;
	if (!ret->steps[0].is_bound && ret->steps[0].gain < ADVICE_GAIN) {
		ret->steps[0] = (struct advice){.id = ADVICE_NONE, .gain = NAN};
		ret->count = 0;
	}
	if (finding->starved && id != ADVICE_NONE)
		add_others(finding, whatif, ret);
	if (!ret->count)
		ret->count = 1;
	add_pageable(gpu, ret);
	add_useless(series, finding, whatif, ret);
}
