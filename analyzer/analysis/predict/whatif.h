/* SPDX-License-Identifier: Apache-2.0 */
/* whatif.h - predicts the run with other settings, by replaying it (replay.h). */
#pragma once

#include "analysis/account/load_facts.h"
#include "analysis/account/stall.h"
#include "analysis/predict/flight.h"
#include "analysis/predict/replay.h"

enum whatif_id {
	WHATIF_BASELINE, /* the run as it was; gains are relative to it */
	WHATIF_WORKERS_X2,
	WHATIF_MORE_WORKERS,    /* as many workers as are worth trying; see more_workers */
	WHATIF_LOAD_HALF,
	WHATIF_PREFETCH_X4,
	WHATIF_IN_ORDER_FALSE,
	WHATIF_FIX_SLOW_WORKER, /* all slow workers load as fast as the others */
	WHATIF_USE_WORKERS,     /* workers instead of none: as many as are needed, or as cores */
	WHATIF_PERSISTENT,      /* workers stay from one epoch to the next */
	WHATIF_DELIVERY,        /* handing a batch over takes no time */
	WHATIF_SHARING,         /* workers need not be asked for descriptors of tensors */
	WHATIF_SAMPLING,        /* choosing the samples takes no time */
	WHATIF_FEWER_WORKERS,   /* the fewest workers that load as fast; see fewer_workers */
	WHATIF_SYNTHETIC,       /* ideal input, the ceiling: no waiting at all */
	WHATIF_MAX
};

#define WHATIF_MOST_ASKED 8
#define WHATIF_ROOM       (WHATIF_MAX + WHATIF_MOST_ASKED)
#define WHATIF_OUTSIDE    0.5  /* from this share of the loads' time outside of the CPU on, workers
			        * may gain nothing */
#define WHATIF_OFF        0.02 /* most relative error of the replay of the run as it was */

/* The reason why nothing is predicted. */
enum whatif_gap {
	WHATIF_GAP_NONE,
	WHATIF_GAP_NO_VERDICT,
	WHATIF_GAP_DOUBT,   /* the waits may not be the training's */
	WHATIF_GAP_LOADS,   /* loads or steps were not observed, or too few were */
	WHATIF_GAP_WORKERS, /* the number of workers is not known, or too large */
	WHATIF_GAP_OFF,     /* the replay of the run as it was has a larger error than WHATIF_OFF */
	WHATIF_GAP_MAX
};

/* A setting that the user asks to predict. */
struct whatif_wish {
	const char *text; /* the wish as the user wrote it */
	int32_t workers;  /* -1: as in the run; so for prefetch_factor and in_order */
	int32_t prefetch_factor;
	int32_t in_order;
	double load_factor; /* NAN: as in the run */
	int32_t persistent; /* 1: yes; else as in the run */
};

/* Predictions. Arrays are indexed by enum whatif_id, and from WHATIF_MAX on by wish. */
struct whatif {
	double batches_per_s[WHATIF_ROOM]; /* NAN: cannot be predicted, or has no meaning here */
	double gain[WHATIF_ROOM];          /* relative to the baseline; 0.1: 10 % more */
	double stall_ratio[WHATIF_ROOM];   /* 0 to 1; the baseline's is the headline's */
	/* 95 % range of another run's rate, which includes the prediction. */
	double low_per_s[WHATIF_ROOM], high_per_s[WHATIF_ROOM];
	struct replay_setup setups[WHATIF_ROOM];
	struct whatif_wish wishes[WHATIF_MOST_ASKED];
	size_t wish_count;
	enum whatif_gap gap;
	/* Factor by which steps get longer, since steps may have to wait for a core. */
	double step_factor[WHATIF_ROOM];
	/* Factors from the replayed rate of the run as it was to its real rate, with shared cores
	 * and without; and the length of a step in each replay. */
	double correction, plain_correction;
	double step_ns, plain_step_ns;
	double ratio;         /* stall ratio of the report's headline */
	double own_per_s;     /* rate of the loader's own loop in the run, in batches a second */
	double outside_ns;    /* mean time of a batch outside of the loader's own loop */
	double ceiling_per_s; /* rate with ideal input, in batches a second */
	double off;             /* relative error of the replay of the run as it was; NAN: none */
	int32_t use_workers;    /* number of workers in WHATIF_USE_WORKERS */
	int32_t more_workers;   /* number in WHATIF_MORE_WORKERS; -1: no more are predicted */
	int32_t fewer_workers;  /* number in WHATIF_FEWER_WORKERS; -1: no fewer load as fast */
	int32_t needed_workers; /* workers for 95 % of the ceiling; -1: none suffice, or unknown */
	bool core_limited;      /* needed_workers is -1 because the cores do not suffice */
	bool has_idle_workers;  /* some workers got no data: no other number is predicted */
	/* Share of the loads' time in waits for something outside of the CPU; NAN: not known. From
	 * WHATIF_OUTSIDE on, the ranges of predictions with more workers begin at no gain. */
	double outside_share;
	double shared_per_s; /* batches a second that a shared limit allows; NAN: unknown */
	double cores;
	double others_cores; /* cores that other programs always want; 0: none */
	bool shares_cores;   /* others_cores matter to at least one prediction */
	double core_lost;    /* part of each core a thread wants that other programs take */
};

/* Facts beside the series that predictions use; NULL: not known. */
struct whatif_known {
	const struct load_facts *facts;
	const struct flight *flight;
};

/* Predicts all settings for a judged series and its trace; `known` may be NULL. 0 or -ENOMEM. */
int whatif_predict(const struct batch_series *series, const struct finding *finding,
		   const struct trace *trace, const struct whatif_known *known,
		   struct whatif *ret);

/* Predicts the user's wishes, WHATIF_MOST_ASKED at most. Returns 0 or -ENOMEM. */
int whatif_ask(const struct batch_series *series, const struct finding *finding,
	       const struct whatif_wish *wishes, size_t count, struct whatif *whatif);

/* The prediction for one setting, as in struct whatif, without a range. */
struct whatif_point {
	double batches_per_s, stall_ratio;
};

/* Predicts a setting for a run and its trace, after whatif_predict(). */
struct whatif_point whatif_at(const struct whatif *whatif, const struct trace *trace,
			      const struct replay_setup *setup);

/* A gain relative to the baseline (0.1: 10 % more) with its range. NAN: not known. */
struct whatif_gain {
	double gain, low, high;
};

struct whatif_gain whatif_gain_of(const struct whatif *whatif, int id);

/* Predicts loads without this share (0 to 1) of their time, all else as it was. 0 or -ENOMEM. */
int whatif_part(const struct batch_series *series, const struct finding *finding,
		const struct whatif *whatif, double share, struct whatif_gain *ret);

/*
 * Predicts WHATIF_FEWER_WORKERS as one worker for each core, if today's workers wait for a core in
 * this share (0 to 1) of their loads' time, by which loads get shorter. Returns 0 or -ENOMEM.
 */
int whatif_uncrowd(const struct batch_series *series, const struct finding *finding,
		   double waiting_share, struct whatif *whatif);

/*
 * Returns true if a prediction's range begins at no gain only because loads may wait for something
 * shared. Such a setting is worth a try all the same.
 */
bool whatif_may_be_shared(const struct whatif *whatif, int id);

/* Returns a prediction's name in JSON, or the text of a wish. */
const char *whatif_name(const struct whatif *whatif, int id);

/* Why nothing is predicted, as a part of a sentence; NULL: WHATIF_GAP_NONE. */
extern const char *const whatif_gap_words[WHATIF_GAP_MAX];
