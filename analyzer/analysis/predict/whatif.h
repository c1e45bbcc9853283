/* SPDX-License-Identifier: Apache-2.0 */
/* whatif.h - predicts the run with other settings by replaying it (replay.h). */
#pragma once

#include "analysis/account/load_facts.h"
#include "analysis/account/stall.h"
#include "analysis/predict/flight.h"
#include "analysis/predict/replay.h"

enum whatif_id {
	WHATIF_BASELINE, /* the run as it was; the other predictions' gains are relative to it */
	WHATIF_WORKERS_X2,
	WHATIF_MORE_WORKERS,    /* as many workers as are worth trying; see more_workers */
	WHATIF_LOAD_HALF,
	WHATIF_PREFETCH_X4,
	WHATIF_IN_ORDER_FALSE,
	WHATIF_FIX_SLOW_WORKER, /* all slow workers load as fast as the others */
	WHATIF_EVEN_SHARDS,     /* all workers get as many batches */
	WHATIF_USE_WORKERS,     /* workers instead of none: as many as needed, or as cores */
	WHATIF_PERSISTENT,      /* workers stay from one epoch to the next */
	WHATIF_DELIVERY,        /* hand-overs take no time */
	WHATIF_SHARING,         /* fetching descriptors of tensors takes no time */
	WHATIF_SAMPLING,        /* choosing the samples takes no time */
	WHATIF_FEWER_WORKERS,   /* the fewest workers that load as fast; see fewer_workers */
	WHATIF_SYNTHETIC,       /* ideal input: no waiting at all, an upper bound */
	WHATIF_MAX
};

#define WHATIF_MOST_ASKED 8
#define WHATIF_ROOM       (WHATIF_MAX + WHATIF_MOST_ASKED)
#define WHATIF_OUTSIDE    0.5  /* more workers may gain nothing if loads wait for this share of
				* their time */
#define WHATIF_OFF        0.02 /* largest relative error of replaying the run as it was */

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

/* A setting whose prediction the user asks for. */
struct whatif_wish {
	const char *text; /* text of the wish as the user wrote it */
	int32_t workers;  /* -1: as in the run; also for prefetch_factor and in_order */
	int32_t prefetch_factor;
	int32_t in_order;
	double load_factor; /* NAN: as in the run */
	int32_t persistent; /* 1: yes; else as in the run */
};

/* Predictions. Arrays are indexed by enum whatif_id; wishes follow from WHATIF_MAX on. */
struct whatif {
	double batches_per_s[WHATIF_ROOM]; /* NAN: not predicted, or meaningless for this run */
	double gain[WHATIF_ROOM];          /* relative to the baseline: 0.1 is 10 % more */
	double stall_ratio[WHATIF_ROOM];   /* 0 to 1; the baseline's is in the report's headline */
	/* 95 % range of another run's rate; the prediction lies in it. */
	double low_per_s[WHATIF_ROOM], high_per_s[WHATIF_ROOM];
	struct replay_setup setups[WHATIF_ROOM];
	struct whatif_wish wishes[WHATIF_MOST_ASKED];
	size_t wish_count;
	enum whatif_gap gap;
	/* Factor by which steps get longer because they wait for cores. */
	double step_factor[WHATIF_ROOM];
	/* Measured rate of the run / replayed rate of the run as it was, with competition for cores
	 * and without; and the length of a step in both replays. */
	double correction, plain_correction;
	double step_ns, plain_step_ns;
	double ratio;         /* stall ratio in the report's headline */
	double own_per_s;     /* measured rate of the loader's own loop, in batches a second */
	double outside_ns;    /* mean time of a batch outside of the loader's own loop */
	double ceiling_per_s; /* rate with ideal input, in batches a second */
	double off;             /* relative error of replaying the run as it was; NAN: none */
	int32_t use_workers;    /* number of workers of WHATIF_USE_WORKERS */
	int32_t more_workers;   /* number of workers of WHATIF_MORE_WORKERS; -1: not predicted */
	int32_t fewer_workers;  /* number of workers of WHATIF_FEWER_WORKERS; -1: not predicted */
	int32_t needed_workers; /* workers for 95 % of the ceiling; -1: none suffice, or unknown */
	bool core_limited;      /* needed_workers is -1 because there are too few cores */
	bool has_fixed_workers; /* some workers got no data, or ended before others: no other
				 * number is predicted */
	/* Share of the loads' time spent waiting, but not for a core or a thread; NAN: not known.
	 * From WHATIF_OUTSIDE on, the range of a prediction with more workers includes that they
	 * gain nothing. */
	double outside_share;
	double shared_per_s; /* batches a second by a limit that workers share; NAN: unknown */
	double cores;
	double others_cores; /* cores that other programs always want; 0: none */
	bool shares_cores;   /* others_cores change at least one prediction */
	/* Largest share of making an iterator that may have been choosing samples, in epochs where
	 * that was not observed. */
	double unseen_sampling;
	double core_lost;    /* share that other programs take of each core that a thread wants */
};

/* Facts other than the series that predictions use; NULL: not known. */
struct whatif_known {
	const struct load_facts *facts;
	const struct flight *flight;
	bool is_uneven; /* some workers run out of data before others (uneven.h) */
	double most_sampling; /* upper limit of unseen_sampling in struct whatif */
};

/* Predicts all settings for a judged series and its trace. `known` may be NULL. 0 or -ENOMEM. */
int whatif_predict(const struct batch_series *series, const struct finding *finding,
		   const struct trace *trace, const struct whatif_known *known,
		   struct whatif *ret);

/* Predicts the user's wishes, at most WHATIF_MOST_ASKED. Returns 0 or -ENOMEM. */
int whatif_ask(const struct batch_series *series, const struct finding *finding,
	       const struct whatif_wish *wishes, size_t count, struct whatif *whatif);

/* Prediction for one setting, with members as in struct whatif, but without a range. */
struct whatif_point {
	double batches_per_s, stall_ratio;
};

/* Predicts one more setting for a run and its trace, after whatif_predict(). */
struct whatif_point whatif_at(const struct whatif *whatif, const struct trace *trace,
			      const struct replay_setup *setup);

/* A gain relative to the baseline (0.1 is 10 % more), and its range. NAN: not known. */
struct whatif_gain {
	double gain, low, high;
};

struct whatif_gain whatif_gain_of(const struct whatif *whatif, int id);

/* Predicts the run if loads were shorter by `share` (0 to 1) of their time. 0 or -ENOMEM. */
int whatif_part(const struct batch_series *series, const struct finding *finding,
		const struct whatif *whatif, double share, struct whatif_gain *ret);

/*
 * Predicts WHATIF_FEWER_WORKERS as one worker for each core. `waiting_share` (0 to 1) is the share
 * of the loads' time in which the run's workers waited for a core. Returns 0 or -ENOMEM.
 */
int whatif_uncrowd(const struct batch_series *series, const struct finding *finding,
		   double waiting_share, struct whatif *whatif);

/*
 * Returns true if a prediction's range includes no gain only because loads may wait for something
 * shared. Such a setting is still worth a try.
 */
bool whatif_may_be_shared(const struct whatif *whatif, int id);

/* Returns a prediction's name in JSON, or the text of a wish. */
const char *whatif_name(const struct whatif *whatif, int id);

/* Reasons why nothing is predicted, as parts of a sentence; NULL for WHATIF_GAP_NONE. */
extern const char *const whatif_gap_words[WHATIF_GAP_MAX];
