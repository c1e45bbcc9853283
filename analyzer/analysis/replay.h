/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.h - run the recorded loads and steps through another loader than the one they came from.
 *
 * In order, without CPU contention, PyTorch's DataLoader is this recursion (analysis.md 1.1;
 * S start of a load, F its end, R request, D delivery, L load, C compute, W workers, p prefetch):
 *
 *     S[j] = max(F[j-W], D[j-pW])    F[j] = S[j] + L[j]
 *     D[j] = max(R[j], F[j]) + delivery    R[j+1] = D[j] + C[j]
 *
 * Batch j is loaded by worker j mod W. With in_order=False the finished batch that came first is
 * delivered, and its worker gets the next one.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/series.h"
#include "analysis/stall.h"
#include "analysis/stats.h"

#define REPLAY_WORKERS 1024      /* of which more is known than their number */
#define REPLAY_SLOTS   (1 << 20) /* workers x prefetch_factor; more are not replayed */

/* Steady loads and steps as if all workers were alike, and what sets the workers apart. */
struct trace {
	float *load_ns; /* already divided by its worker's factor */
	float *compute_ns;
	int16_t *worker; /* that loaded it; -1: unknown */
	size_t count;
	size_t replay_count; /* a replay repeats them to so many at least */
	double *factors;     /* of the first workers: times their loads take longer; 1: alike */
	size_t factor_count;
	double delivery_ns;
	double theta_ns;
	double cpu_ns;      /* of its load, a batch; NAN: unknown */
	double main_cpu_ns; /* of the consumer's process, its own loads not counted; 0: unknown */
	double cores;       /* that other programs leave; NAN: unknown */
};

/*
 * Of a judged series. A worker's factor is the median of its loads over that of the workers in the
 * middle where that is more than 15 % off and no chance (|z| >= 3 on log loads). Long series are
 * sampled. An empty trace where loads or steps are unknown. 0 or -ENOMEM.
 */
int trace_init(const struct batch_series *series, const struct finding *finding, struct trace *ret);
void trace_done(struct trace *trace);

struct replay_setup {
	int32_t workers; /* 0: loaded by the consumer itself */
	int32_t prefetch_factor;
	bool in_order;
	bool equal;         /* no worker is slower than the others */
	double load_factor; /* 0: an ideal loader */
};

struct replay_result {
	double batches_per_s; /* NAN: could not be run */
	double stall_ratio;
};

/*
 * The trace, repeated to its `replay_count`, without the first pW. Not faster than the cores
 * allow: cores / CPU time of a batch (analysis.md 5), but never below `floor_per_s`, which was seen
 * to be possible (NAN: no such limit).
 */
struct replay_result replay_run(const struct trace *trace, const struct replay_setup *setup,
				double floor_per_s);

/* Batches a second that the cores allow with loads of so many times their CPU time. */
double replay_most(const struct trace *trace, double load_factor);

/* z of Welch's test between two samples given by their moments; NAN where one has less than 2. */
double replay_welch(const struct stats_moments *a, const struct stats_moments *b);

#endif
