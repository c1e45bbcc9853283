/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stall.h - is this loop starved for data, and by how much?
 *
 * The definitions, each in one place:
 *
 * - Steady state. The first W deliveries of an iterator (W workers; 8 if unknown; 1 if there are
 *   none) are excluded: the first round of loads cannot overlap compute, so it says what starting
 *   costs and not what running costs. More would cost data without reducing the bias. A batch whose
 *   wait or compute is unknown is not steady either. An ordinal that is missing (a lost record)
 *   still counts as a delivery.
 * - Theta = max(2 ms, 0.10 x median steady compute; of all compute where none is steady). Handing
 *   over a batch that is ready takes 0.5 to 1.2 ms in the median, several ms for large ones, so
 *   "waited at all" proves nothing.
 * - Starved batch: steady, not known to have been ready when it was asked for, wait >= theta.
 *   (An empty queue is no criterion: batches are delivered in order, and the ready ones can all be
 *   the wrong ones.)
 * - Stall ratio: account.h. All waits count in it, starved or not.
 * - Trimmed ratio: the same without the largest ceil(0.5 %) of the starved waits, one at least. The
 *   denominator stays.
 * - Exposed load of a starved batch = min(wait, load), of any other 0. Masked share = 1 - sum of
 *   exposed / sum of load over steady batches: a description, never a verdict.
 * - The clock. Where the GPU's idle time during the wait is known of half of the otherwise steady
 *   batches or more (of all batches where none is steady), it stands for the wait in all of the
 *   above: the host may wait and the GPU be busy. The other batches are not steady then, for one
 *   ratio has one clock. Else the GPU's times are not used.
 * - Without them, for a consumer that does not wait for its steps: drain ratio D = median compute
 * of sync steps (compute > 5 x its median, 0.3 to 20 % of the batches) / mean step. D >= 5: the GPU
 *   always had work; D <= 3.5: it had not, and the stall ratio is an upper bound; else, or without
 *   sync steps, no verdict.
 * - Gain: without any waiting the time would be (1 - ratio) of what it was: 1 / (1 - ratio).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/account/account.h"
#include "analysis/account/series.h"

/* Ratios that separate the words of the verdict. */
#define STALL_MODERATE       0.05
#define STALL_HIGH           0.20
#define STALL_TRIMMED        0.025 /* below it the stalls are a few single events */
#define STALL_FEWEST         20    /* batches */
#define STALL_TOLERATED_LOSS 0.05

enum stall_verdict {
	STALL_VERDICT_INCOMPLETE,
	STALL_VERDICT_NOT,
	STALL_VERDICT_MODERATELY,
	STALL_VERDICT_HIGHLY,
	STALL_VERDICT_IN_DOUBT, /* the waits may not be the training's */
	STALL_VERDICT_MAX
};

/* Whether the verdict says how much the training waits. */
static inline bool stall_is_judged(enum stall_verdict verdict)
{
	return verdict != STALL_VERDICT_INCOMPLETE && verdict != STALL_VERDICT_IN_DOUBT;
}

/* Why there is no verdict. */
enum stall_gap {
	STALL_GAP_NONE,
	STALL_GAP_NO_BATCHES,
	STALL_GAP_WAIT,         /* not observed */
	STALL_GAP_COMPUTE,      /* not observed */
	STALL_GAP_FEW_BATCHES,  /* less than STALL_FEWEST */
	STALL_GAP_LOSS,         /* more than STALL_TOLERATED_LOSS of the records */
	STALL_GAP_ASYNCHRONOUS, /* the host's waits do not tell whether the GPU had work */
	STALL_GAP_MAX
};

enum stall_confidence {
	STALL_CONFIDENCE_LOW,
	STALL_CONFIDENCE_MEDIUM,
	STALL_CONFIDENCE_HIGH,
	STALL_CONFIDENCE_MAX
};

/* Ratios are 0-1 and NAN where they cannot be computed; sums are in nanoseconds. */
struct finding {
	enum stall_verdict verdict;
	enum stall_gap gap;
	enum stall_confidence confidence;
	bool starved;
	bool is_doubtful; /* the waits may not be the training's; stall_doubt() */
	bool by_gpu;      /* judged by the GPU's idle time, not the host's waits */
	double gpu_share; /* share of batches with a known GPU idle time */

	struct account account; /* account of the thread that trains, or of the selected part */
	struct account own;     /* account of this loader's loop alone */
	double others_error_ns; /* standard error of the account's waits for other loaders */

	double stall_ratio; /* account.ratio */
	double trimmed_ratio;
	double masked_share;
	double gain_max; /* factor on throughput; NAN where it has no bound */
	double theta_ns; /* NAN where no steady batch was seen */

	size_t batch_count;
	size_t missing_count; /* ordinals without a record */
	size_t steady_count;
	size_t starved_count;
	size_t epoch_count;
	size_t unseen_count;    /* batches that the GPU's clock leaves out */
	size_t readiness_count; /* steady batches whose readiness is known */
	double lost_share;      /* share of the records, at the least */

	double wait_all_ns; /* by the host's clock, all batches of the loader */
	double compute_all_ns;
	double wait_masked_ns; /* waits while the GPU was busy; 0 by the host's clock */
	double steady_ns;      /* wait + compute of steady batches */

	double wait_p50_ns; /* quantiles over all batches; NAN where not observed */
	double wait_p99_ns;
	double compute_p50_ns;
	double compute_p99_ns;

	double drain_ratio;       /* NAN unless the verdict needs it */
	double compute_median_ns; /* median of steady batches */
	double demand_mean_ns; /* mean step without waiting; where steps do not wait for the GPU,
			        * the GPU's busy time */
	double load_mean_ns;   /* mean of steady batches with a known load, else NAN */
	double load_cv;        /* coefficient of variation of loads: standard deviation / mean */
	double rho;            /* load_mean_ns / loading workers / demand_mean_ns; too slow from 1
			        * on */
	double eta;            /* throughput / min(loading workers / load_mean_ns, 1 / demand) */
};

/*
 * Judges a series by its own account. Confidence is high from 300 batches (the ratio of a fresh run
 * then differs by some 3 points), medium from 100 (5 points), else low; one step lower where
 * readiness is known for less than 95 % of the steady ones and there are workers (slow delivery
 * then looks like starvation), where more than 1 % of the records are lost, and where the GPU's
 * clock leaves out more than 5 % of the batches. Marks which batches are steady and which starved
 * in the series' `state`.
 */
void stall_judge(struct batch_series *series, struct finding *ret);

/* Judges again by the account of the whole thread, of which the series is one loader. */
void stall_judge_thread(const struct batch_series *series, const struct account *thread,
			double others_error_ns, struct finding *finding);

/* Marks a finding whose waits may not be the training's, as the caller found. */
void stall_doubt(struct finding *finding);

/* Theta of a series; UNKNOWN where no step was seen. */
int64_t stall_theta_ns(struct batch_series *series);

/* The waits that the verdict counts: the GPU's idle time, or the host's waits. */
const float *stall_waits(const struct batch_series *series, const struct finding *finding);

/* How long batch `i` takes without its wait in stall_waits(). */
double stall_demand_ns(const struct batch_series *series, const struct finding *finding, size_t i);

/* How long a steady batch was waited for before it was finished, by the verdict's clock. */
double stall_not_ready_ns(const struct batch_series *series, const struct finding *finding,
			  size_t i);

/* How many first deliveries of an iterator are excluded; workers < 0: unknown. */
int64_t stall_start_count(int64_t workers);

/* Why a batch is not steady state ("epoch_start", "no_step": wait or compute unknown), or NULL. */
const char *stall_excluded(int64_t workers, int64_t batch, int64_t wait_ns, int64_t compute_ns);

/* Whether a steady batch starved the consumer. */
bool stall_is_starved(int64_t wait_ns, int head_ready, double theta_ns);

/* Names as JSON has them; NULL for STALL_GAP_NONE. */
extern const char *const stall_verdict_ids[STALL_VERDICT_MAX];
extern const char *const stall_gap_ids[STALL_GAP_MAX];
extern const char *const stall_confidence_ids[STALL_CONFIDENCE_MAX];
