/* SPDX-License-Identifier: Apache-2.0 */
/* whatif.h - what the run would do with other settings, by replaying it (replay.h). */
#pragma once

#include "analysis/account/load_facts.h"
#include "analysis/account/stall.h"
#include "analysis/predict/flight.h"
#include "analysis/predict/replay.h"

enum whatif_id {
	WHATIF_BASELINE, /* as it was: what the gains are over */
	WHATIF_WORKERS_X2,
	WHATIF_MORE_WORKERS,    /* as many as are worth trying; see more_workers */
	WHATIF_LOAD_HALF,
	WHATIF_PREFETCH_X4,
	WHATIF_IN_ORDER_FALSE,
	WHATIF_FIX_SLOW_WORKER, /* all that are slow */
	WHATIF_USE_WORKERS,     /* instead of none: as many as are needed, or as there are cores */
	WHATIF_PERSISTENT,      /* workers stay from epoch to epoch */
	WHATIF_DELIVERY,        /* handing a batch over takes no time */
	WHATIF_SHARING,         /* no descriptors of tensors are asked of the workers */
	WHATIF_SAMPLING,        /* choosing the samples takes no time */
	WHATIF_FEWER_WORKERS,   /* as few as load as fast; see fewer_workers */
	WHATIF_SYNTHETIC,       /* ideal input: no waiting at all. The ceiling */
	WHATIF_MAX
};

#define WHATIF_MOST_ASKED 8
#define WHATIF_ROOM       (WHATIF_MAX + WHATIF_MOST_ASKED)
#define WHATIF_OUTSIDE    0.5  /* of the loads' time: from there on more workers may gain nothing */
#define WHATIF_OFF        0.02 /* by which the replay of the run as it was may differ from it */

/* Why nothing is predicted. */
enum whatif_gap {
	WHATIF_GAP_NONE,
	WHATIF_GAP_NO_VERDICT,
	WHATIF_GAP_DOUBT,   /* the waits may not be the training's */
	WHATIF_GAP_LOADS,   /* loads or steps were not observed, or too few of them */
	WHATIF_GAP_WORKERS, /* their number is not known, or too large */
	WHATIF_GAP_OFF,     /* the replay of the run as it was is off by more than WHATIF_OFF */
	WHATIF_GAP_MAX
};

/* A setting that somebody asks for. */
struct whatif_wish {
	const char *text; /* as it was asked for */
	int32_t workers;  /* -1: as it was, as below */
	int32_t prefetch_factor;
	int32_t in_order;
	double load_factor; /* NAN: as it was */
	int32_t persistent; /* 1: yes; else as it was */
};

/* By enum whatif_id, and from WHATIF_MAX on by wish. */
struct whatif {
	double batches_per_s[WHATIF_ROOM]; /* NAN: makes no sense here, or cannot be told */
	double gain[WHATIF_ROOM];          /* over the baseline, 0.1: 10 % more */
	double stall_ratio[WHATIF_ROOM];   /* 0 to 1; the baseline's is the headline's */
	/* Where another run would put it, 95 %; the prediction is always within. */
	double low_per_s[WHATIF_ROOM], high_per_s[WHATIF_ROOM];
	struct replay_setup setups[WHATIF_ROOM];
	struct whatif_wish wishes[WHATIF_MOST_ASKED];
	size_t wish_count;
	enum whatif_gap gap;
	/* How many times as long a step takes: it, too, may have to wait for a core. */
	double step_factor[WHATIF_ROOM];
	/* From the rate that the replay of shared cores has for the run as it was, and from the
	 * plain one's, to the run's; and what a step takes in each. */
	double correction, plain_correction;
	double step_ns, plain_step_ns;
	double ratio;         /* the headline's */
	double own_per_s;     /* of the loader's own loop, as it was */
	double outside_ns;    /* a batch: what of the account is outside of that loop */
	double ceiling_per_s; /* of ideal input */
	double off;             /* the replay of the run as it was over the run, less 1; NAN */
	int32_t use_workers;    /* of WHATIF_USE_WORKERS */
	int32_t more_workers;   /* of WHATIF_MORE_WORKERS; -1: none are predicted */
	int32_t fewer_workers;  /* of WHATIF_FEWER_WORKERS; -1: no fewer would do */
	int32_t needed_workers; /* for 95 % of the ceiling; -1: none suffice, or unknown */
	bool core_limited;      /* needed_workers is -1 because the cores do not suffice */
	bool has_idle_workers;  /* of other numbers of workers nothing is known then */
	/*
	 * Part of the loads' time for which something outside of the CPU was waited for; NAN: not
	 * known. From WHATIF_OUTSIDE on the ranges of more workers begin where nothing is gained.
	 */
	double outside_share;
	double shared_per_s; /* batches a second that all get, where it is shared; NAN: unknown */
	double cores;
	double others_cores; /* that other programs are taken to want all the time; 0: none */
	bool shares_cores;   /* ... and which makes a difference to some prediction */
	double core_lost;    /* of each core that a thread wants: what others take */
};

/* What is known beside the series; NULL: not known. */
struct whatif_known {
	const struct load_facts *facts;
	const struct flight *flight;
};

/* Of a judged series and its trace; `known` may be NULL. 0 or -ENOMEM. */
int whatif_predict(const struct batch_series *series, const struct finding *finding,
		   const struct trace *trace, const struct whatif_known *known,
		   struct whatif *ret);

/* Answers wishes, WHATIF_MOST_ASKED at most. 0 or -ENOMEM. */
int whatif_ask(const struct batch_series *series, const struct finding *finding,
	       const struct whatif_wish *wishes, size_t count, struct whatif *whatif);

/* What is predicted for one setting, as in struct whatif, without a range. */
struct whatif_point {
	double batches_per_s, stall_ratio;
};

/* Of a predicted run and its trace. */
struct whatif_point whatif_at(const struct whatif *whatif, const struct trace *trace,
			      const struct replay_setup *setup);

/* Over the baseline, 0.1: 10 % more; with the range. NAN: cannot be told. */
struct whatif_gain {
	double gain, low, high;
};

struct whatif_gain whatif_gain_of(const struct whatif *whatif, int id);

/*
 * What loads without a part (0 to 1) of their time would bring, all else as it was. 0 or -ENOMEM.
 */
int whatif_part(const struct batch_series *series, const struct finding *finding,
		const struct whatif *whatif, double share, struct whatif_gain *ret);

/*
 * As many workers as cores, where today's wait for a core in this part (0 to 1) of their loads'
 * time, and loads are then as short as what they do: WHATIF_FEWER_WORKERS. 0 or -ENOMEM.
 */
int whatif_uncrowd(const struct batch_series *series, const struct finding *finding,
		   double waiting_share, struct whatif *whatif);

/*
 * Whether a prediction's range begins where nothing is gained only because what loads wait for may
 * be shared: it is worth a try all the same.
 */
bool whatif_may_be_shared(const struct whatif *whatif, int id);

/* As JSON has it; of a wish, what was asked. */
const char *whatif_name(const struct whatif *whatif, int id);

/* Why nothing is predicted, as a part of a sentence; NULL: something is. */
extern const char *const whatif_gap_words[WHATIF_GAP_MAX];
