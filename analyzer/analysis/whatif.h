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

#define WHATIF_MOST_ASKED 8
#define WHATIF_ROOM       (WHATIF_MAX + WHATIF_MOST_ASKED)

/* A setting that somebody asks for. */
struct whatif_wish {
	const char *text; /* as it was asked for */
	int32_t workers;  /* -1: as it was, as below */
	int32_t prefetch_factor;
	int32_t in_order;
	double load_factor; /* NAN: as it was */
};

/* By enum whatif_id, and from WHATIF_MAX on by wish. */
struct whatif {
	double batches_per_s[WHATIF_ROOM]; /* NAN: makes no sense here, or cannot be told */
	double gain[WHATIF_ROOM];          /* over the baseline, 0.1: 10 % more */
	double stall_ratio[WHATIF_ROOM];
	/* Where another run of the same length would put it, 95 %; NAN: a long run, or none. */
	double low_per_s[WHATIF_ROOM], high_per_s[WHATIF_ROOM];
	struct replay_setup setups[WHATIF_ROOM];
	struct whatif_wish wishes[WHATIF_MOST_ASKED];
	size_t wish_count;
	int32_t use_workers;    /* of WHATIF_USE_WORKERS */
	int32_t needed_workers; /* for 95 % of the ceiling; -1: none suffice, or unknown */
	bool core_limited;      /* needed_workers is -1 because the cores do not suffice */
	double cores;
};

/* Of a judged series and its trace. 0 or -ENOMEM. */
int whatif_predict(const struct batch_series *series, const struct finding *finding,
		   const struct trace *trace, struct whatif *ret);

/* Answers wishes, WHATIF_MOST_ASKED at most. 0 or -ENOMEM. */
int whatif_ask(const struct batch_series *series, const struct finding *finding,
	       const struct whatif_wish *wishes, size_t count, struct whatif *whatif);

/* As JSON has it; of a wish, what was asked. */
const char *whatif_name(const struct whatif *whatif, int id);

#endif
