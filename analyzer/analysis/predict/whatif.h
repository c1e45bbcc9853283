/* SPDX-License-Identifier: Apache-2.0 */
/* whatif.h - predicts how fast the run would be with other settings, by replaying it (replay.h). */
#pragma once

#include "analysis/account/load_facts.h"
#include "analysis/account/stall.h"
#include "analysis/predict/replay.h"

/* X(identifier, name in JSON) */
#define WHATIFS(X)                                                                                 \
	X(BASELINE, "baseline")                                                                    \
	X(WORKERS_X2, "workers_x2")                                                                \
	X(MORE_WORKERS, "more_workers")                                                            \
	X(LOAD_HALF, "load_x0.5")                                                                  \
	X(PREFETCH_X4, "prefetch_x4")                                                              \
	X(IN_ORDER_FALSE, "in_order_false")                                                        \
	X(FIX_SLOW_WORKER, "fix_slow_worker")                                                      \
	X(EVEN_SHARDS, "even_shards") /* all workers get equally many batches */                   \
	X(USE_WORKERS, "use_workers") /* workers instead of none */                                \
	X(PERSISTENT, "persistent")   /* workers stay for all epochs */                            \
	X(DELIVERY, "delivery")                                                                    \
	X(SHARING, "sharing") /* tensors are shared by files; no descriptors are fetched */        \
	X(SAMPLING, "sampling")                                                                    \
	X(FEWER_WORKERS, "fewer_workers") /* the fewest workers that keep the training as fast */  \
	X(NO_WORKERS, "no_workers")       /* none, if as fast as with workers */                   \
	X(SYNTHETIC, "synthetic")         /* ideal input without any waiting, an upper bound */

enum whatif_id {
#define X(id, name) WHATIF_##id,
	WHATIFS(X) WHATIF_MAX
#undef X
};

#define WHATIF_MOST_ASKED 8
#define WHATIF_ROOM       (WHATIF_MAX + WHATIF_MOST_ASKED)
/* more workers may gain nothing if outside_share (below) is at least this */
#define WHATIF_OUTSIDE    0.5
/* nothing is predicted if the run's own replay is off by more than this share */
#define WHATIF_OFF        0.02

enum whatif_gap {
	WHATIF_GAP_NONE,
	WHATIF_GAP_NO_VERDICT,
	WHATIF_GAP_DOUBT,
	WHATIF_GAP_LOADS,   /* too few loads or steps were observed */
	WHATIF_GAP_WORKERS, /* the number of workers is unknown or too large */
	WHATIF_GAP_OFF,     /* the baseline's replay is off by more than WHATIF_OFF */
	WHATIF_GAP_MAX
};

/* A wish: settings that the user asks about. -1 or NAN: as in the run. */
struct whatif_wish {
	const char *text;
	int32_t workers;
	int32_t prefetch_factor;
	int32_t in_order;
	double load_factor;
	int32_t persistent; /* 1: yes; else as in the run */
};

/* Arrays are indexed by enum whatif_id; wishes begin at WHATIF_MAX. */
struct whatif {
	double batches_per_s[WHATIF_ROOM]; /* NAN: not predicted */
	double gain[WHATIF_ROOM];          /* relative to the baseline: 0.1 is 10 % more */
	double stall_ratio[WHATIF_ROOM];
	/* range in which 95 % of real runs with this setting should be */
	double low_per_s[WHATIF_ROOM], high_per_s[WHATIF_ROOM];
	struct replay_setup setups[WHATIF_ROOM];
	struct whatif_wish wishes[WHATIF_MOST_ASKED];
	size_t wish_count;
	enum whatif_gap gap;
	/* steps take this many times as long as in the run, because they wait for cores */
	double step_factor[WHATIF_ROOM];
	/* correction: rate of the run / rate of its replay by crowd.h, where threads compete for
	 * cores. step_ns: mean step there. plain_...: the same for replay.h. */
	double correction, plain_correction;
	double step_ns, plain_step_ns;
	double ratio;      /* stall ratio in the report's headline */
	double own_per_s;  /* the run's batches a second, without outside_ns */
	double outside_ns; /* time between epochs and in other loaders, divided by the batches */
	double ceiling_per_s;
	double least_step; /* a step can shrink to at least this part of its time in the run */
	double off; /* relative error of the unchanged run's replay; NAN: not replayed */
	int32_t use_workers;
	int32_t more_workers; /* -1: not predicted */
	int32_t fewer_workers;
	int32_t needed_workers; /* workers for 95 % of the best rate; -1: over 512, or unknown */
	bool core_limited;      /* needed_workers is -1 because there are too few cores */
	bool is_iterable;       /* the dataset itself deals out its shards to the workers */
	bool has_fixed_workers; /* some workers got less data, so other numbers are not predicted */
	/* Share of their time in which loads wait for something other than cores and threads; NAN:
	 * unknown. From WHATIF_OUTSIDE on, and for iterable datasets, more workers may gain
	 * nothing, and the range of their prediction says so. */
	double outside_share;
	double shared_per_s; /* batches a second within the workers' common limit; NAN: unknown */
	double others_per_s; /* batches a second that the steps' other loaders give; NAN: unknown */
	double cores;
	double others_cores; /* number of cores that other programs want all the time */
	bool shares_cores;   /* at least one prediction depends on others_cores */
	/* largest share of setup_ns that choosing samples may take where sample_ns is unknown */
	double unseen_sampling;
	double core_lost; /* share of a core that other programs take from a thread that wants it */
};

struct whatif_known {
	const struct load_facts *facts;
	double shared_per_s; /* becomes shared_per_s in struct whatif */
	bool is_uneven, is_threads;
	bool is_from_device; /* load_reads_devices() is true, so outside_share is taken as 1 */
	double most_sampling; /* becomes unseen_sampling in struct whatif */
	int64_t burst;        /* number of batches that the training takes at once; 0: one */
};

/* Predicts all settings. `known` may be NULL. */
int whatif_predict(const struct batch_series *series, const struct finding *finding,
		   const struct trace *trace, const struct whatif_known *known,
		   struct whatif *ret);

/* Predicts at most WHATIF_MOST_ASKED wishes. */
int whatif_ask(const struct batch_series *series, const struct finding *finding,
	       const struct whatif_wish *wishes, size_t count, struct whatif *whatif);

/* One prediction, with the units of struct whatif. */
struct whatif_point {
	double batches_per_s, stall_ratio;
};

struct whatif_point whatif_at(const struct whatif *whatif, const struct trace *trace,
			      const struct replay_setup *setup);

/* A gain and its range. 0.1: 10 % more batches a second than in the run. NAN: unknown. */
struct whatif_gain {
	double gain, low, high;
};

struct whatif_gain whatif_gain_of(const struct whatif *whatif, int id);

/* Predicts the run with loads that are shorter by `share` (0 to 1). */
int whatif_part(const struct batch_series *series, const struct finding *finding,
		const struct whatif *whatif, double share, struct whatif_gain *ret);

/* Predicts one worker for each core, if loads waited for a core `waiting_share` of their time. */
int whatif_uncrowd(const struct batch_series *series, const struct finding *finding,
		   double waiting_share, struct whatif *whatif);

/* Returns true if only a shared limit, or too few shards, might keep the setting from gaining. */
bool whatif_may_be_shared(const struct whatif *whatif, int id);

/* Returns the prediction's name in JSON; for a wish, its text. */
const char *whatif_name(const struct whatif *whatif, int id);

/* Why nothing is predicted, as parts of a sentence; NULL for WHATIF_GAP_NONE. */
extern const char *const whatif_gap_words[WHATIF_GAP_MAX];
