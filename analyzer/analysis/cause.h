/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cause.h - why the loop waits, or why it does not although something is amiss.
 *
 * Every mechanism gets its seconds of the account (account.h): the start and end of epochs and
 * receiving are parts of it; what was waited for batches that were not ready is divided by split.h.
 * The largest is the cause, whatever the others are, and one from a third of it is named beside it.
 * What the training's own pauses cost is time of steps: it is the cause of a run that does not
 * starve, and of one in which it is five times as much as any waiting.
 */
#pragma once

#include "analysis/advice.h"
#include "analysis/boot.h"
#include "analysis/gpu_use.h"
#include "analysis/load.h"
#include "analysis/period.h"
#include "analysis/slow.h"
#include "analysis/split.h"
#include "analysis/stall.h"
#include "analysis/whatif.h"

#define CAUSE_COST_LEAST 0.01      /* of all time: less is not worth reporting */
#define CAUSE_SECOND     (1.0 / 3) /* of the first cause: more is named beside it */

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

struct cause_cost {
	enum cause cause;
	double ns;
	double share; /* of the account's time */
};

struct diagnosis {
	enum cause cause;
	enum cause second; /* named beside the first; CAUSE_UNKNOWN: none */
	struct cause_cost causes[CAUSE_MAX];
	size_t cause_count; /* 0: there is nothing to name */
	struct period wait, compute, load;
	struct timer wait_timer, compute_timer;
	double compute_share; /* of all time: cost of the periodic long steps */
	bool steps_only;      /* `compute` is of whole steps: nothing else is known */
	struct slow_workers slow;
	struct cold cold;
	struct shift shift;
	double cpu_share;    /* of the cores: used by workers; NAN: unknown */
	double queued_share; /* of the waiting: while other batches were ready */
	struct whatif whatif;
	struct boot boot;
	struct advice_list advice;
};

/* What is known beside the series; NULL: not known. */
struct cause_input {
	const struct gpu_use *gpu;      /* what the GPU's time went to */
	const struct load_times *loads; /* what the loads' time went to */
	const struct slow_work *work;   /* what each worker read */
};

/* Of a judged series; confidence and the like are the finding's. 0 or -ENOMEM. */
int cause_find(const struct batch_series *series, const struct finding *finding,
	       const struct cause_input *input, struct diagnosis *ret);

/* The same without predictions and advice, which would take most of the time. */
int cause_find_bare(const struct batch_series *series, const struct finding *finding,
		    struct diagnosis *ret);

/* As JSON has it; NULL for CAUSE_UNKNOWN. */
extern const char *const cause_names[CAUSE_MAX];
