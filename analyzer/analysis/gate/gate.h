/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - decides by statistics whether a run passes a gate.
 *
 * A gate fails a build only if the evidence is certain, and passes it only if there is enough data.
 * Else it is inconclusive: with fewer than max(300, 20 p W) batches, lost records, or a run that
 * still records.
 *
 * - A limit on the stall ratio fails iff the 1 % point of the block bootstrap (boot.h) is above it.
 * - A limit on the increase of the stall ratio, by rule "bound", fails iff the difference between
 *   the means of n baselines and m new runs exceeds max(least, k x max(SD of the baselines,
 *   bootstrap error of a run)). k = t(.99, n - 1) x sqrt(1/m + 1/n) gives the one-sided prediction
 *   bound for the mean of m further observations (Hahn & Meeker, Statistical Intervals, 1991,
 *   chapter 4). The samples are runs, because the batches of a run depend on one another: tests on
 *   batches give false alarms in up to 70 % of pairs of equal runs. The bootstrap error counts
 *   because the SD of a few runs can be small by chance.
 * - By rule "separation", such a limit fails iff each new run is above each baseline, and the new
 *   runs' median is at least `least` above the baselines' median. This is the extreme of the
 *   Mann-Whitney test, p = 1 / C(n + m, m) (Mann & Whitney, Ann. Math. Statist. 18, 1947).
 * - The loader with the most waiting may be too short for the bootstrap, such as that of a
 *   validation. Then 3 x t(.99, n - 1) standard errors are subtracted from the sum of its n waits
 *   and of one added wait of 0. A limit fails if the ratio with this sum is above it, and passes
 *   only if the observed ratio is not. This is right even if each wait correlates by .8 with the
 *   one before: of 20,000 draws of 5 to 290 waits from five distributions, at most 2.3 % were
 *   wrong, and 0.9 % in all but one.
 */
#pragma once

#include "analysis/account/boot.h"
#include "analysis/account/load.h"
#include "analysis/cause/cause.h"

#define GATE_FEWEST_BASELINES 5
#define GATE_MOST_BASELINES   1000
#define GATE_FEWEST           300
#define GATE_TOLERATED_LOSS   0.01
#define GATE_SEPARATE_RUNS    3
#define GATE_LEAST_INCREASE   0.03
#define GATE_DEFAULT_LIMIT    0.10 /* so steps take at least 90 % of the time */

/* X(identifier, members of struct gate_metric_row); parts of steps are in enum step_part's order */
#define GATE_METRICS(X)                                                                            \
	X(STALL_RATIO, "stall.ratio", SHARE, GATE_AT(stall_ratio))                                 \
	X(STALL_INCREASE, "stall.ratio.increase", POINTS, SIZE_MAX)                                \
	X(TRIMMED_RATIO, "stall.trimmed_ratio", SHARE, GATE_AT(trimmed_ratio))                     \
	X(NOT_READY, "stall.not_ready", SHARE, GATE_AT_PART(NOT_READY))                            \
	X(RECEIVING, "stall.receiving", SHARE, GATE_AT_PART(RECEIVING))                            \
	X(SAMPLING, "stall.sampling", SHARE, GATE_AT_PART(SAMPLING))                               \
	X(EPOCH_START, "stall.epoch_start", SHARE, GATE_AT_PART(EPOCH_START))                      \
	X(EPOCH_END, "stall.epoch_end", SHARE, GATE_AT_PART(EPOCH_END))                            \
	X(STARTUP, "stall.startup", TIME, GATE_AT(account.startup_ns))                             \
	X(WAIT_P50, "stall.wait_p50", TIME, GATE_AT(wait_p50_ns))                                  \
	X(WAIT_P99, "stall.wait_p99", TIME, GATE_AT(wait_p99_ns))                                  \
	X(LOAD_MEAN, "workers.load_mean", TIME, GATE_AT(load_mean_ns))                             \
	X(GPU_IDLE, "gpu.idle", SHARE, SIZE_MAX)                                                   \
	X(COLLECTIVES_ALONE, "gpu.collectives_alone_share", SHARE, SIZE_MAX)                       \
	X(STEP_BEFORE, "step.before", SHARE, SIZE_MAX)                                             \
	X(STEP_BACKWARD, "step.backward", SHARE, SIZE_MAX)                                         \
	X(STEP_BETWEEN, "step.between", SHARE, SIZE_MAX)                                           \
	X(STEP_OPTIMIZER, "step.optimizer", SHARE, SIZE_MAX)                                       \
	X(STEP_SAVE, "step.save", SHARE, SIZE_MAX)                                                 \
	X(STEP_LOOPS, "step.other_loops", SHARE, SIZE_MAX)                                         \
	X(STEP_AFTER, "step.after", SHARE, SIZE_MAX)                                               \
	X(BATCHES, "stall.batches", COUNT, GATE_AT(batch_count), true, true)                       \
	X(STEADY_BATCHES, "stall.steady_batches", COUNT, GATE_AT(steady_count), true, true)        \
	X(LOST_SHARE, "loss.share", SHARE, GATE_AT(lost_share), false, true)

enum gate_metric {
#define X(id, ...) GATE_##id,
	GATE_METRICS(X) GATE_METRIC_MAX
#undef X
};

enum gate_unit { GATE_SHARE, GATE_POINTS, GATE_TIME, GATE_COUNT };

extern const struct gate_metric_row {
	const char *name;
	enum gate_unit unit;
	size_t offset; /* offset of the metric in struct finding; SIZE_MAX: not there */
	bool is_least; /* the limit is a minimum */
	bool is_whole; /* the metric is known even of a run that is too short to be judged */
} gate_metrics[GATE_METRIC_MAX];

enum gate_metric gate_metric_find(const char *name, size_t length);

enum gate_unfit {
	GATE_FIT,
	GATE_LIVE,
	GATE_NO_VERDICT,
	GATE_LOSS,
	GATE_DOUBT, /* perhaps another thread than the training's waited */
	GATE_FEW,
	GATE_RANKS, /* some ranks of the job left no database */
	GATE_UNFIT_MAX
};

enum gate_part {
	GATE_PART_OPEN,
	GATE_PART_READ,
	GATE_PART_DECODE,
	GATE_PART_COLLATE,
	GATE_PART_OWN,     /* code of the dataset itself, on the CPU */
	GATE_PART_BLOCKED, /* code of the dataset itself, off the CPU */
	GATE_PART_MAX
};

#define GATE_MEANS (GATE_METRIC_MAX + GATE_PART_MAX + 3)

/* What a gate looks at in one run. NAN: not observed. */
struct gate_sample {
	union {
		double means[GATE_MEANS];
		struct {
			double value[GATE_METRIC_MAX]; /* times in ns; NAN for the increase */
			/* part_ns, load_ns: means over loads; compute_ns, wait_ns: over batches */
			double part_ns[GATE_PART_MAX];
			double load_ns, compute_ns, wait_ns;
		};
	};
	double low99, error; /* 1 % quantile and standard error of the stall ratio */
	double short_low99;  /* 1 % quantile for a loader too short for boot.h; else NAN */
	enum gate_unfit unfit;
	enum stall_gap gap;
	size_t needed_count;
	enum cause cause;
};

/* Makes a sample of a run. `times` are sums over `load_count` loads. */
void gate_take(const struct batch_series *series, const struct finding *finding,
	       const struct diagnosis *diagnosis, const struct load_times *times, double load_count,
	       bool live, struct gate_sample *ret);

enum gate_outcome { GATE_PASSED, GATE_INCONCLUSIVE, GATE_FAILED };

enum gate_why {
	GATE_WHY_NONE,
	GATE_WHY_UNFIT,
	GATE_WHY_NOT_OBSERVED,
	GATE_WHY_BASELINES, /* too few baselines are comparable with the runs */
	GATE_WHY_UNLIKE,
	GATE_WHY_ANOTHER_RUN, /* all runs are above all baselines, but one more run is needed */
	GATE_WHY_MAX
};

enum gate_rule { GATE_BOUND, GATE_SEPARATION };

struct gate_limit {
	enum gate_metric metric;
	double value;
	enum gate_rule rule;
};

struct gate_result {
	enum gate_outcome outcome;
	enum gate_why why;
	double found;
	double edge; /* ratio: its 1 % quantile; increase: the most that passes; else the value */
	double before;
	double spread;
	/* odd: ratio of a baseline so high that the run passes only because of it. odd_edge: the
	 * largest increase that would pass without it. NAN: there is none, or the run fails. */
	double odd, odd_edge;
	size_t baseline_count;
	size_t run; /* index of the run with the worst result */
};

enum gate_action { GATE_ACTION_FAIL, GATE_ACTION_WARN, GATE_ACTION_PASS };

struct gate_item {
	struct gate_limit limit;
	bool is_error; /* false: a run that breaks the limit gets a warning only */
	enum gate_action on_inconclusive;
	char text[120]; /* "stall.ratio <= 10%" */
	struct gate_result result;
};

void gate_judge(const struct gate_limit *limit, const struct gate_sample *run,
		struct gate_result *ret);

struct gate_groups {
	const double *before;
	size_t before_count;
	const double *now, *error;
	size_t now_count;
};

void gate_judge_increase(const struct gate_limit *limit, const struct gate_groups *groups,
			 struct gate_result *ret);

/* Returns true if `a` is worse than `b`: by its outcome, else by its distance from the limit. */
bool gate_is_worse(const struct gate_limit *limit, const struct gate_result *a,
		   const struct gate_result *b);

/* Returns the one-sided 99 % point of Student's t. */
double gate_t99(size_t degrees);

/* How often the gate fails on equal runs. A draw takes some as baselines, others as new runs. */
struct gate_calibration {
	size_t run_count, draw_count;
	size_t alarm_count;        /* draws in which the gate failed */
	size_t alarm_run_count;    /* runs for which the gate failed in at least one draw */
	double detect50, detect95; /* increase that fails the gate in 50 % and 95 % of the draws */
};

/* Calibrates the gate with `count` equal runs. Returns -EDOM if the runs are too few for a draw. */
int gate_calibrate(const struct gate_limit *limit, const double *ratios, const double *errors,
		   size_t count, struct gate_calibration *ret);

enum gate_suspect {
	GATE_SUSPECT_LOAD,    /* loads take longer, mostly in `part` */
	GATE_SUSPECT_COMPUTE, /* steps are shorter, so they hide less of the waiting */
	GATE_SUSPECT_OTHER,   /* neither: loads may vary more, or the hand-over takes longer */
};

struct gate_change {
	enum gate_suspect suspect;
	enum gate_part part;            /* part of loads that grew most; GATE_PART_MAX: unknown */
	struct gate_sample before, now; /* means over the runs, and the most frequent cause */
};

void gate_compare(const struct gate_sample *const *before, size_t before_count,
		  const struct gate_sample *const *now, size_t now_count, struct gate_change *ret);

/* Names in JSON; NULL for GATE_FIT and GATE_WHY_NONE. */
extern const char *const gate_unfit_ids[GATE_UNFIT_MAX];
extern const char *const gate_why_ids[GATE_WHY_MAX];
extern const char *const gate_outcome_ids[];
