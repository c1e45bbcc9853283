/* SPDX-License-Identifier: Apache-2.0 */
/* diagnosis.h - what is found of a judged run: why it waits (cause.h), what helps (advice.h). */
#pragma once

#include "analysis/boot.h"
#include "analysis/gpu_use.h"
#include "analysis/load.h"
#include "analysis/period.h"
#include "analysis/slow.h"
#include "analysis/split.h"
#include "analysis/stall.h"
#include "analysis/whatif.h"

/* CAUSE(constant, name as JSON has it) */
#define CAUSES(CAUSE)                                                                              \
	CAUSE(NONE, "none")                                                                        \
	CAUSE(LOADER_CAPACITY, "loader_capacity")                                                  \
	CAUSE(CPU_CONTENTION, "cpu_contention")                                                    \
	CAUSE(SLOW_WORKER, "slow_worker")                                                          \
	CAUSE(PERIODIC_SLOW_LOAD, "periodic_slow_load")                                            \
	CAUSE(HEAD_OF_LINE, "head_of_line")                                                        \
	CAUSE(INTERMITTENT_LOADER, "intermittent_loader")                                          \
	CAUSE(COLD_CACHE, "cold_cache")                                                            \
	CAUSE(EPOCH_START, "epoch_start")                                                          \
	CAUSE(DELIVERY, "delivery")                                                                \
	CAUSE(ISOLATED_STALL, "isolated_stall")                                                    \
	CAUSE(MAIN_THREAD_PERIODIC, "main_thread_periodic")                                        \
	CAUSE(SINGLE_PROCESS, "single_process")                                                    \
	CAUSE(UNSEEN_LOADER, "unseen_loader")

enum cause {
	CAUSE_UNKNOWN, /* no verdict */
#define CAUSE(constant, name) CAUSE_##constant,
	CAUSES(CAUSE) CAUSE_MAX
#undef CAUSE
};

struct cause_cost {
	enum cause cause;
	double ns;
	double share; /* of the account's time */
};

/* ADVICE(constant, name as JSON has it) */
#define ADVICES(ADVICE)                                                                            \
	ADVICE(NONE, "none")                                                                       \
	ADVICE(MORE_LOADER_CAPACITY, "more_loader_capacity")                                       \
	ADVICE(PREFETCH_OR_IN_ORDER_FALSE, "prefetch_or_in_order_false")                           \
	ADVICE(FIX_SLOW_WORKER, "fix_slow_worker")                                                 \
	ADVICE(PERSISTENT_WORKERS, "persistent_workers")                                           \
	ADVICE(REDUCE_CPU_PER_BATCH, "reduce_cpu_per_batch")                                       \
	ADVICE(WARM_CACHE, "warm_cache")                                                           \
	ADVICE(SMOOTH_SHARD_OPENING, "smooth_shard_opening")                                       \
	ADVICE(STORAGE, "storage")                                                                 \
	ADVICE(REDUCE_DELIVERY_COST, "reduce_delivery_cost")                                       \
	ADVICE(REDUCE_MAIN_THREAD_EVENT, "reduce_main_thread_event")                               \
	ADVICE(USE_WORKERS, "use_workers")                                                         \
	ADVICE(PAGEABLE_H2D, "pageable_h2d")                                                       \
	ADVICE(DECODE_BOUND, "decode_bound")                                                       \
	ADVICE(STORAGE_BOUND, "storage_bound")                                                     \
	ADVICE(SMALL_READS, "small_reads")                                                         \
	ADVICE(MARK_LOADS, "mark_loads")                                                           \
	ADVICE(BALANCE_LOADS, "balance_loads")                                                     \
	ADVICE(INSPECT_LOADS, "inspect_loads")                                                     \
	ADVICE(CHEAPER_STARTS, "cheaper_starts")                                                   \
	ADVICE(FIND_EVENT, "find_event")

enum advice_id {
#define ADVICE(constant, name) ADVICE_##constant,
	ADVICES(ADVICE) ADVICE_MAX
#undef ADVICE
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
	int whatif;    /* the prediction whose gain this is; -1: none, it is a bound */
	double gain;   /* predicted, over the run as it was; NAN: not known */
	bool is_bound; /* the gain is what it can bring at most */
};

struct advice_list {
	struct advice steps[ADVICE_MOST];
	size_t count;
	struct {
		enum whatif_id id;
		enum useless why;
	} useless[WHATIF_MAX];
	size_t useless_count;
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
	const struct load_facts *facts; /* what loads wait for */
	const struct flight *flight;    /* whether it is shared */
};
