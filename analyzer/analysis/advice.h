/* SPDX-License-Identifier: Apache-2.0 */
/* advice.h - what to do about it, what that brings, and what would bring nothing. */
#ifndef ADVICE_H
#define ADVICE_H

#include "analysis/gpu_use.h"
#include "analysis/stall.h"
#include "analysis/whatif.h"

enum cause {
	CAUSE_UNKNOWN, /* no verdict */
	CAUSE_NONE,
	CAUSE_LOADER_CAPACITY,
	CAUSE_CPU_CONTENTION,
	CAUSE_SLOW_WORKER,
	CAUSE_PERIODIC_SLOW_LOAD,
	CAUSE_HEAD_OF_LINE,
	CAUSE_INTERMITTENT_LOADER,
	CAUSE_COLD_CACHE,
	CAUSE_EPOCH_START,
	CAUSE_DELIVERY,
	CAUSE_ISOLATED_STALL,
	CAUSE_MAIN_THREAD_PERIODIC,
	CAUSE_SINGLE_PROCESS,
	CAUSE_UNSEEN_LOADER,
	CAUSE_MAX
};

enum advice_id {
	ADVICE_NONE,
	ADVICE_MORE_LOADER_CAPACITY,
	ADVICE_PREFETCH_OR_IN_ORDER_FALSE,
	ADVICE_FIX_SLOW_WORKER,
	ADVICE_PERSISTENT_WORKERS,
	ADVICE_REDUCE_CPU_PER_BATCH,
	ADVICE_WARM_CACHE,
	ADVICE_SMOOTH_SHARD_OPENING,
	ADVICE_STORAGE,
	ADVICE_REDUCE_DELIVERY_COST,
	ADVICE_REDUCE_MAIN_THREAD_EVENT,
	ADVICE_USE_WORKERS,
	ADVICE_PAGEABLE_H2D,
	ADVICE_DECODE_BOUND,
	ADVICE_STORAGE_BOUND,
	ADVICE_SMALL_READS,
	ADVICE_MARK_LOADS,
	ADVICE_MAX
};

/* Why something that people try would not help. */
enum useless {
	USELESS_LOADING_IS_NO_LIMIT, /* the training does not wait for data */
	USELESS_CORES_ARE_USED,
	USELESS_WORKERS_NEVER_IDLE, /* a longer queue would stay as empty */
	USELESS_NOTHING_BEHIND,     /* no finished batch stands behind an unfinished one */
	USELESS_OTHER_LIMIT,        /* the replay shows no gain */
	USELESS_MAX
};

#define ADVICE_MOST 3
#define ADVICE_GAIN 0.05 /* what brings less is no advice */

struct advice {
	enum advice_id id;
	double gain;   /* predicted, over the run as it was; NAN: cannot be told */
	bool is_bound; /* the gain is what it can bring at most */
};

struct advice_list {
	struct advice steps[ADVICE_MOST]; /* the largest gain first */
	size_t count;
	struct {
		enum whatif_id id;
		enum useless why;
	} useless[WHATIF_MAX];
	size_t useless_count;
};

/*
 * What follows from the cause, and from what the GPU does (NULL: not known). `lost_share`: of all
 * time that the cause's events cost, or NAN.
 */
void advice_give(enum cause cause, const struct batch_series *series, const struct finding *finding,
		 const struct whatif *whatif, const struct gpu_use *gpu, double lost_share,
		 struct advice_list *ret);

/* By gain behind the first step, which is the cause's own; the last one may have to go. */
void advice_insert(struct advice_list *list, struct advice advice);

/* As JSON has them. */
const char *advice_name(enum advice_id id);
const char *advice_useless_name(enum useless why);

#endif
