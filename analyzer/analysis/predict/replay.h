/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.h - run the recorded loads and steps through another loader than the one they came from.
 *
 * In order, PyTorch's DataLoader is this recursion (S start of a load, F its end,
 * R request, D delivery, L load, C compute, W workers, p prefetch), begun anew in each epoch:
 *
 *     S[j] = max(F[j-W], D[j-pW]) + lag    F[j] = S[j] + L[j]
 *     D[j] = max(R[j], F[j] + latency) + hand-over[j]    R[j+1] = D[j] + C[j]
 *
 * Batch j is loaded by worker j mod W. With in_order=False the finished batch that came first is
 * delivered, and its worker gets the next one. The whole run is replayed once, its starts and ends
 * of epochs included: another run would have as many batches. Where threads may have to wait for
 * cores, crowd.h does the same with time that is shared.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/predict/trace.h"

#define REPLAY_SLOTS (1 << 20) /* most workers x prefetch_factor that are replayed */

/* Whether slow loads stay with the worker or with the data. */
enum replay_slow {
	REPLAY_SLOW_WORKER,
	REPLAY_SLOW_INDEX, /* slow loads stay with the batches that were slow in the run */
	REPLAY_SLOW_NONE,
};

struct replay_setup {
	int32_t workers; /* number of workers; 0: the consumer itself loads */
	int32_t prefetch_factor;
	bool in_order;
	bool is_foreign; /* not PyTorch's loader: other orders and persistence are not predicted */
	bool restarts; /* each epoch starts its workers anew */
	enum replay_slow slow;
	double load_factor; /* factor on loads; 0: an ideal loader */
	double handover_factor; /* factor on hand-overs; choosing samples has sampling_factor */
	double fetch_factor;
	double sampling_factor;
};

struct replay_result {
	double batches_per_s; /* NAN: the setup could not be replayed */
	double stall_ratio;   /* waiting, starts and ends of epochs included, over all time */
};

/* Replays the run without a model of cores: waits for cores stay as in the run. */
struct replay_result replay_run(const struct trace *trace, const struct replay_setup *setup);

/* Returns the time that the load of batch `at` takes in the setup. */
double replay_load_ns(const struct trace *trace, const struct replay_setup *setup, size_t at,
		      size_t worker);

/* Returns the times of an epoch before its first load and after its last step. */
struct trace_epoch replay_epoch(const struct trace *trace, const struct replay_setup *setup,
				size_t epoch);

/* Returns the time from when a load could begin to its end; `ordinal` is the epoch's. */
double replay_until_loaded_ns(const struct trace *trace, const struct replay_setup *setup,
			      size_t at, size_t worker, size_t epoch, size_t ordinal);

/*
 * Return the time of a hand-over that the training spends, and the latency of a batch on its way
 * before. Choosing the next samples is a part of the hand-over that no setting of the workers
 * changes. If a worker's next load holds its interpreter while it is asked for descriptors, shorter
 * loads let it answer sooner.
 */
double replay_handover_ns(const struct trace *trace, const struct replay_setup *setup, size_t at);
double replay_latency_ns(const struct trace *trace, const struct replay_setup *setup, size_t at);

/* Returns the time to take in one message, if that was timed by itself (trace->receive_ns). */
double replay_receive_ns(const struct trace *trace, const struct replay_setup *setup);
