/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.h - computes how long the run would have taken with another loader, from its recorded
 * loads and steps.
 *
 * A PyTorch DataLoader that delivers in order is a recursion, which analysis/README.md has: batch j
 * is loaded by worker j mod W, the number of workers. With in_order=False, the batch that was
 * finished first is delivered, and its worker gets the next load. If some workers run out of data
 * before others, the batches are replayed in the workers that loaded them. In a pool (MXNet Gluon),
 * the worker that is free first takes the next load. The whole run is replayed once, with the
 * starts and ends of its epochs. crowd.h does the same for threads that compete for cores.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/predict/trace.h"

#define REPLAY_SLOTS (1 << 20) /* larger products workers x prefetch_factor are not replayed */

/* What makes some workers' loads slow: the worker, or the data that it gets. */
enum replay_slow {
	REPLAY_SLOW_WORKER,
	REPLAY_SLOW_INDEX,
	REPLAY_SLOW_NONE,
};

struct replay_setup {
	int32_t workers; /* 0: the consumer loads its batches itself */
	int32_t prefetch_factor;
	bool in_order;
	bool as_dealt;   /* each batch is loaded by the worker that loaded it in the run */
	bool is_pooled;  /* any free worker takes the next load; false: each worker in its turn */
	bool is_foreign; /* not PyTorch's loader: no prediction of in_order or persistent workers */
	bool restarts;
	enum replay_slow slow;
	double own_load;    /* without workers, a load takes this part of its time in a worker */
	double load_factor; /* loads take this many times as long as in the run */
	double handover_factor; /* hand-overs without sampling take this many times as long */
	double fetch_factor;    /* fetching descriptors takes this many times as long */
	double sampling_factor; /* choosing samples takes this many times as long */
	double unseen_sampling; /* share of setup_ns that chose samples, if sample_ns is unknown */
};

struct replay_result {
	double batches_per_s; /* NAN: the run could not be replayed */
	double stall_ratio;   /* (waits + starts and ends of epochs) / all time */
};

struct replay_result replay_run(const struct trace *trace, const struct replay_setup *setup);

static inline bool replay_is_dealt(const struct trace *trace, const struct replay_setup *setup)
{
	return setup->as_dealt && setup->workers == trace->workers;
}

/* Returns the worker that loaded the batch in the run; if unknown, the one whose turn it was. */
static inline size_t replay_owner(const struct trace *trace, size_t at)
{
	return (trace->worker[at] < 0 ? at : (size_t)trace->worker[at]) % (size_t)trace->workers;
}

double replay_load_ns(const struct trace *trace, const struct replay_setup *setup, size_t at,
		      size_t worker);

struct trace_epoch replay_epoch(const struct trace *trace, const struct replay_setup *setup,
				size_t epoch);

/* Returns the time from when a load could begin until it ends. `ordinal`: place in its epoch. */
double replay_until_loaded_ns(const struct trace *trace, const struct replay_setup *setup,
			      size_t at, size_t worker, size_t epoch, size_t ordinal);

/*
 * Return the two parts of a hand-over. The latency ends when the training thread can take the
 * batch. The rest ends when next() returns, and includes choosing the next samples.
 */
double replay_latency_ns(const struct trace *trace, const struct replay_setup *setup, size_t at);
double replay_handover_ns(const struct trace *trace, const struct replay_setup *setup, size_t at);

/* Returns the time to receive one message, or 0 if trace->receive_ns is 0. */
double replay_receive_ns(const struct trace *trace, const struct replay_setup *setup);
