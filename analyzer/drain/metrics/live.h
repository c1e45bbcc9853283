/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h - a run's numbers while it goes on, for Prometheus: DLPROF_METRICS_DIR.
 *
 * The file FOLDER/dlprof-PID-TICKS.prom has the name of the run's folder of segments. Every 15
 * seconds it is written beside its place and moved there; it is removed when the run is over. A
 * killed drain leaves it behind: the next drain in that folder removes files that were not written
 * for five minutes, and dlprof_updated_timestamp_seconds in a file says how old it is.
 *
 * Numbers are sums over the rows that were written since this drain began, by the host's clock;
 * Prometheus knows counters that begin anew. Waits and steps are counted as in
 * analysis/account/account.h, over all threads that train.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "drain/metrics/metrics.h"
#include "drain/segments/segment.h"
#include "store/write/write.h"

#define LIVE_STEPS   512
#define LIVE_THREADS 8 /* training threads with a time; of others only batches count */

/* From the first batch of a thread to the end of its last step. */
struct live_thread {
	struct life life;
	int64_t tid;
	double begin_ns, end_ns;
};

struct live_sums {
	double value[METRIC_MAX];   /* times in nanoseconds */
	uint32_t steps[LIVE_STEPS]; /* steps by length: place i is for 2^(i / 8) ns */
	uint32_t step_count;
	struct live_thread threads[LIVE_THREADS];
	size_t thread_count;
};

struct live {
	char path[PATH_MAX], part[PATH_MAX]; /* "": no file is wanted */
	struct live_sums now, stored;        /* sums with uncommitted rows, and without */
	double compute_ns;                   /* last value that was told: counters do not fall */
	int64_t lost_count;                  /* records lost by removed segments */
	uint64_t due_ns;
	struct live_labels {
		char *job_id, *run_id, *version; /* id of the job, or of the run without one */
		int64_t rank, local_rank;
	} labels;
	bool is_labelled, is_remote, warned;
};

/* The epoch that a batch belongs to. */
struct live_place {
	struct life consumer;
	int64_t tid, workers; /* workers < 0: not known */
	bool nested;
	int64_t setup_begin_ns, setup_ns; /* making of the epoch's iterator */
};

/* Begins the metrics of the run with this folder of segments. */
void live_begin(struct live *live, const char *segment_dir);

/* NULL: no metrics are wanted. */
static inline struct live *live_wanted(struct live *live)
{
	return live->path[0] && !live->is_remote ? live : NULL;
}

/* Ends the metrics and removes the file. */
void live_end(struct live *live);

/* Counts a row that is written; `loaded` and `delivered` say what it holds. */
void live_row(struct live *live, const struct live_place *of, const struct batch_values *row,
	      bool loaded, bool delivered);

/* Counts the end of an epoch, by a call that took so long. */
void live_stop(struct live *live, const struct live_place *of, int64_t begin_ns, int64_t ns);

/* Told when rows are committed, or will be written again. */
void live_committed(struct live *live);
void live_rewind(struct live *live);

/* Writes the file if it is time. An error becomes a note, once. 0 or -errno. */
int live_update(struct live *live, struct db *db, struct writer *writer,
		struct segment *const *segments, size_t count, uint64_t now_ns);
