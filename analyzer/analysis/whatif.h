/* SPDX-License-Identifier: Apache-2.0 */
/* whatif.h - what the run would do with other settings, by replaying it (replay.h). */
#ifndef WHATIF_H
#define WHATIF_H

#include "analysis/replay.h"

enum whatif_id {
	WHATIF_BASELINE, /* as it was: what the gains are over */
	WHATIF_WORKERS_X2,
	WHATIF_LOAD_HALF,
	WHATIF_PREFETCH_X4,
	WHATIF_IN_ORDER_FALSE,
	WHATIF_FIX_SLOW_WORKER,
	WHATIF_USE_WORKERS, /* instead of none: as many as are needed, or as there are cores */
	WHATIF_SYNTHETIC,   /* a loader that is always ready: the ceiling */
	WHATIF_MAX
};

struct whatif {
	double batches_per_s[WHATIF_MAX]; /* NAN: makes no sense here, or cannot be told */
	double gain[WHATIF_MAX];          /* over the baseline, 0.1: 10 % more */
	double stall_ratio[WHATIF_MAX];
	int32_t use_workers;    /* of WHATIF_USE_WORKERS */
	int32_t needed_workers; /* for 95 % of the ceiling; -1: none suffice, or unknown */
	bool core_limited;      /* needed_workers is -1 because the cores do not suffice */
	double cores;
};

/* Of a judged series and its trace. */
void whatif_predict(const struct batch_series *series, const struct finding *finding,
		    const struct trace *trace, struct whatif *ret);

/* As JSON has it. */
const char *whatif_name(enum whatif_id id);

#endif
