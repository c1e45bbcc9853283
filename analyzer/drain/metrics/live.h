/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h - a run's numbers while it goes on, for Prometheus: DLPROF_METRICS_DIR.
 *
 * A file FOLDER/dlprof-PID-TICKS.prom, named as the folder of the run's segments. Every 15 seconds
 * it is written anew beside its place and moved there; it goes when the run is over. A drain that
 * was killed leaves it behind: the next one in that folder removes what was not written for five
 * minutes, and dlprof_updated_timestamp_seconds in it says how old it is.
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
#define LIVE_THREADS 8 /* that train; of others the batches count, and no time */

/* From the first batch of a thread to the end of its last step. */
struct live_thread {
	struct life life;
	int64_t tid;
	double begin_ns, end_ns;
};

struct live_sums {
	double value[METRIC_MAX];   /* times in nanoseconds */
	uint32_t steps[LIVE_STEPS]; /* how many computed for so long: 2^(i / 8) ns */
	uint32_t step_count;
	struct live_thread threads[LIVE_THREADS];
	size_t thread_count;
};

struct live {
	char path[PATH_MAX], part[PATH_MAX]; /* "": none is wanted */
	struct live_sums now, stored;        /* with rows that are not committed, and without */
	double compute_ns;                   /* as it was said last: counters do not fall */
	int64_t lost_count;                  /* of segments that are gone */
	uint64_t due_ns;
	struct live_labels {
		char *job_id, *run_id, *version; /* no job: the run's */
		int64_t rank, local_rank;
	} labels;
	bool is_labelled, is_remote, warned;
};

/* Whose batch it is. */
struct live_place {
	struct life consumer;
	int64_t tid, workers; /* workers < 0: not known */
	bool nested;
	int64_t setup_begin_ns, setup_ns; /* of its epoch's iterator */
};

/* For the run with this folder of segments. */
void live_begin(struct live *live, const char *segment_dir);

/* NULL: nobody asked for it. */
static inline struct live *live_wanted(struct live *live)
{
	return live->path[0] && !live->is_remote ? live : NULL;
}

/* Its file goes. */
void live_end(struct live *live);

/* A row of a task is written; `loaded`, `delivered`: what it holds. */
void live_row(struct live *live, const struct live_place *of, const struct batch_values *row,
	      bool loaded, bool delivered);

/* An epoch was ended by a call that took so long. */
void live_stop(struct live *live, const struct live_place *of, int64_t begin_ns, int64_t ns);

/* Rows are committed, or will be written again. */
void live_committed(struct live *live);
void live_rewind(struct live *live);

/* Writes the file if it is time. What keeps it from that becomes a note, once. 0 or -errno. */
int live_update(struct live *live, struct db *db, struct writer *writer,
		struct segment *const *segments, size_t count, uint64_t now_ns);
