/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cause.h - why the loop waits, or why it does not although something is amiss.
 *
 * The decision order of analysis.md 3.7 and 4. Not starved: cold cache, isolated stall, epoch
 * start, delivery, main thread, none. Starved: cold cache, slow worker, then rho >= 1: loader
 * capacity or, where the workers use 85 % of the cores, CPU contention; then periodic slow load,
 * head of line, rho >= .9: loader capacity, else intermittent. Neither the length of the queue nor
 * how busy the workers are tells these apart: in order, the batches that are ready can all be the
 * wrong ones.
 */
#ifndef CAUSE_H
#define CAUSE_H

#include "analysis/advice.h"
#include "analysis/boot.h"
#include "analysis/period.h"
#include "analysis/stall.h"
#include "analysis/whatif.h"

#define CAUSE_COST_LEAST 0.01 /* of all time: what costs less is no finding */

/* At least 1.3 times the median load of the others, Welch's z >= 4 on log loads, half the stalls.
 */
struct slow_worker {
	int32_t worker; /* -1: none */
	double factor;  /* its median load over that of all others */
	double z;
	double share; /* of the stall time that is on its batches */
};

/* The first epoch against those after it. NAN: there is only one. */
struct cold {
	double first_load_ns, later_load_ns;
	double first_ratio, later_ratio; /* stall ratios */
	bool found;
};

struct diagnosis {
	enum cause cause;
	struct period wait, compute, load;
	struct timer wait_timer, compute_timer;
	double compute_share; /* of all time that the periodic long steps cost */
	bool steps_only;      /* `compute` is of whole steps: nothing else is known */
	struct slow_worker slow;
	struct cold cold;
	double cpu_share;    /* of the cores that the workers used; NAN: unknown */
	double queued_share; /* of the stall time while other batches were ready */
	struct whatif whatif;
	struct boot boot;
	struct advice_list advice;
};

/*
 * Of a judged series; confidence and the like are the finding's. `gpu`: what its time went to, or
 * NULL. 0 or -ENOMEM.
 */
int cause_find(const struct batch_series *series, const struct finding *finding,
	       const struct gpu_use *gpu, struct diagnosis *ret);

/* The same without predictions and advice, which take most of the time. */
int cause_find_bare(const struct batch_series *series, const struct finding *finding,
		    struct diagnosis *ret);

/* As JSON has it; NULL for CAUSE_UNKNOWN. */
const char *cause_name(enum cause cause);

#endif
