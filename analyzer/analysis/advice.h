/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice.h - what to do about it, what that brings, and what would bring nothing.
 *
 * One list of candidates. Those that the replay can price have the gain of their prediction and are
 * given from ADVICE_GAIN on; others have a bound from the account. The cause's own remedy comes
 * first, then by gain that of the second cause and what else helps. A prediction stands behind a
 * step, or among what would not help, or in neither; never in both.
 */
#pragma once

#include "analysis/whatif.h"

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

struct cause_input;
struct diagnosis;

/* Fills in diagnosis->advice, all else of which is known. 0 or -ENOMEM. */
int advice_give(const struct batch_series *series, const struct finding *finding,
		const struct cause_input *input, struct diagnosis *diagnosis);

/* Whether a step's gain is that prediction. */
bool advice_has(const struct advice_list *list, enum whatif_id id);

/* As JSON has them. */
extern const char *const advice_names[ADVICE_MAX];
extern const char *const advice_useless_words[USELESS_MAX];
