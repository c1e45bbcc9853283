/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stall.h - judges whether a loop is starved for data, and by how much.
 *
 * The definitions, each in one place:
 *
 * - Steady batches: all but the first W of an epoch (W workers; 8 if unknown; 1 if there are none),
 *   with wait and compute known. The first W loads cannot overlap compute, so their waits are a
 *   cost of starting. A batch whose record was lost counts among the first W, too.
 * - Theta = max(2 ms, 0.10 x median compute of the steady batches, or of all if none is steady).
 *   Shorter waits prove nothing: a ready batch takes 0.5 to 1.2 ms to be handed over, a large one
 *   several ms.
 * - Starved batch: a steady batch with wait >= theta, not known to have been ready when the
 *   consumer asked for it. Whether the queue was empty does not matter, as it may hold later
 *   batches only.
 * - Stall ratio: see account.h. All waits count in it, starved or not.
 * - Trimmed ratio: the stall ratio without the largest 0.5 % of the starved waits (at least one) in
 *   the numerator. The denominator stays.
 * - Exposed load: min(wait, load) of a starved batch, 0 of others. Masked share = 1 - sum of
 *   exposed load / sum of load, over steady batches. No verdict depends on it.
 * - The clock: if the GPU's idle time in the wait is known for at least half of the otherwise
 *   steady batches (of all batches if none is steady), it replaces the wait in all of the above, as
 *   the GPU may be busy while the host waits. Batches without a GPU time are then not steady.
 * - Drain ratio D: median compute of sync steps / mean step. Sync steps have compute > 5 x its
 *   median, and are 0.3 to 20 % of the batches. D matters only if GPU times are unknown and the
 *   consumer does not wait until its steps have ended on the GPU. D >= 5: the GPU always had work.
 *   D <= 3.5: the GPU ran out of work, and the stall ratio is an upper bound. With another D, or
 *   without sync steps, there is no verdict.
 * - Gain: throughput without any waiting would be 1 / (1 - stall ratio) times the observed one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/account/account.h"
#include "analysis/account/series.h"

/* stall ratios from which on the verdict is MODERATELY, and HIGHLY */
#define STALL_MODERATE       0.05
#define STALL_HIGH           0.20
/* if the trimmed ratio is lower, all stalls are a few single events */
#define STALL_TRIMMED        0.025
#define STALL_FEWEST         VERDICT_BATCHES
#define STALL_TOLERATED_LOSS 0.05

enum stall_verdict {
	STALL_VERDICT_INCOMPLETE,
	STALL_VERDICT_NOT,
	STALL_VERDICT_MODERATELY,
	STALL_VERDICT_HIGHLY,
	/* perhaps another thread than the training's waited; set by stall_doubt() */
	STALL_VERDICT_IN_DOUBT,
	STALL_VERDICT_MAX
};

static inline bool stall_is_judged(enum stall_verdict verdict)
{
	return verdict != STALL_VERDICT_INCOMPLETE && verdict != STALL_VERDICT_IN_DOUBT;
}

enum stall_gap {
	STALL_GAP_NONE,
	STALL_GAP_NO_BATCHES,
	STALL_GAP_WAIT,
	STALL_GAP_COMPUTE,
	STALL_GAP_FEW_BATCHES,
	STALL_GAP_LOSS,         /* more than STALL_TOLERATED_LOSS of the records were lost */
	STALL_GAP_ASYNCHRONOUS, /* the host's waits do not show whether the GPU had work */
	STALL_GAP_MAX
};

enum stall_confidence {
	STALL_CONFIDENCE_LOW,
	STALL_CONFIDENCE_MEDIUM,
	STALL_CONFIDENCE_HIGH,
	STALL_CONFIDENCE_MAX
};

/* What is found about a loader. Ratios are 0 to 1, or NAN. */
struct finding {
	enum stall_verdict verdict;
	enum stall_gap gap;
	enum stall_confidence confidence;
	bool starved;
	bool is_doubtful; /* perhaps the waits do not belong to the training */
	bool by_gpu;      /* the GPU's idle time counts as waiting */
	double gpu_share; /* share of the batches with a known GPU idle time */

	struct account account; /* the account that is judged: the thread's, or `own` */
	struct account own;     /* account of this loader alone */
	double others_error_ns; /* standard error of the sum of waits for other loaders */

	double stall_ratio;
	double trimmed_ratio;
	double masked_share;
	double gain_max; /* throughput without any waiting / observed throughput; NAN: unbounded */
	/* gain_max for a run in which workers also take no cores from the steps */
	double gain_alone;
	double theta_ns; /* NAN: no step was observed */

	size_t batch_count;
	size_t missing_count; /* number of ordinals without a record */
	size_t steady_count;
	size_t starved_count;
	size_t epoch_count;
	size_t unseen_count;    /* batches left out for lack of a GPU time */
	size_t readiness_count; /* steady batches with known readiness */
	double lost_share;      /* at least this share of the records was lost */

	double wait_all_ns; /* waits of all batches by the host's clock */
	double compute_all_ns;
	double wait_masked_ns; /* part of the waits in which the GPU was busy; 0 if !by_gpu */
	double steady_ns;      /* wait + compute of steady batches, by the host's clock */

	double wait_p50_ns; /* quantiles over all batches; NAN: not observed */
	double wait_p99_ns;
	double compute_p50_ns;
	double compute_p99_ns;

	double drain_ratio; /* D (see above); NAN: the verdict does not depend on it */
	double compute_median_ns;
	/* mean step without waits; if steps are asynchronous, the GPU's mean time for a step */
	double demand_mean_ns;
	double load_mean_ns; /* mean load time of steady batches; NAN: unknown for all */
	double load_cv; /* standard deviation of loads / mean load */
	/* mean time between two waits for this loader: demand_mean_ns plus waits for others */
	double taken_mean_ns;
	double rho; /* load_mean_ns / loading workers / taken_mean_ns; > 1: loads are too slow */
	double eta; /* throughput / min(loading workers / load_mean_ns, 1 / taken_mean_ns) */
};

/*
 * Judges a series by its own account, and sets SERIES_STEADY and SERIES_STARVED.
 *
 * Confidence is high from 300 batches (another run's ratio then differs by some 3 points), medium
 * from 100 (5 points), else low. It is one level lower if readiness is unknown for over 5 % of the
 * steady batches, if over 1 % of the records are lost, or if over 5 % of the batches lack a GPU
 * time.
 */
void stall_judge(struct batch_series *series, struct finding *ret);

/* Judges a series again, by its thread's account, which may include other loaders. */
void stall_judge_thread(const struct batch_series *series, const struct account *thread,
			double others_error_ns, struct finding *finding);

void stall_doubt(struct finding *finding);

/* Returns how many loads were running at the same time, on average over steady batches. */
static inline double stall_loads_at_once(const struct finding *finding)
{
	return finding->load_mean_ns * (double)finding->steady_count / finding->steady_ns;
}

int64_t stall_theta_ns(struct batch_series *series);

const float *stall_waits(const struct batch_series *series, const struct finding *finding);

double stall_demand_ns(const struct batch_series *series, const struct finding *finding, size_t i);

double stall_not_ready_ns(const struct batch_series *series, const struct finding *finding,
			  size_t i);

/* Returns how many first batches of an epoch are excluded. `workers` < 0: unknown. */
int64_t stall_start_count(int64_t workers);

/* Returns "epoch_start", "no_step" (times unknown), or NULL if the batch is steady. */
const char *stall_excluded(int64_t workers, int64_t batch, int64_t wait_ns, int64_t compute_ns);

bool stall_is_starved(int64_t wait_ns, int head_ready, double theta_ns);

/* Names in JSON; NULL for STALL_GAP_NONE. */
extern const char *const stall_verdict_ids[STALL_VERDICT_MAX];
extern const char *const stall_gap_ids[STALL_GAP_MAX];
extern const char *const stall_confidence_ids[STALL_CONFIDENCE_MAX];
