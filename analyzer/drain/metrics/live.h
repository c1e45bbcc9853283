/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h - writes the numbers of a running run to a file for Prometheus, in DLPROF_METRICS_DIR.
 *
 * The file FOLDER/dlprof-PID-TICKS.prom has the name of the run's folder of segments. Every 15
 * seconds it is written under another name and renamed; it is removed when the run is over. A
 * killed drain leaves its file behind: the next drain with that FOLDER removes files that were not
 * written for five minutes, and dlprof_updated_timestamp_seconds in a file says how old it is.
 *
 * Numbers are sums over the rows that were written since this drain began, by the host's clock;
 * Prometheus copes with counters that start again. Waits and steps are counted as in
 * analysis/account/account.h, over all threads that train.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "drain/metrics/metrics.h"
#include "drain/segments/segment.h"
#include "store/write/write.h"

#define LIVE_STEPS   512
/* training threads whose time is measured; of further ones only batches count */
#define LIVE_THREADS 8

/* A training thread, and its time from its first batch to the end of its last step. */
struct live_thread {
	struct life life;
	int64_t tid;
	double begin_ns, end_ns;
};

struct live_sums {
	double value[METRIC_MAX];   /* times in nanoseconds */
	/* histogram of steps: place i counts those of about 2^(i / 8) ns */
	uint32_t steps[LIVE_STEPS];
	uint32_t step_count;
	struct live_thread threads[LIVE_THREADS];
	size_t thread_count;
};

struct live {
	/* the file, and its unfinished name; "": no file is wanted */
	char path[PATH_MAX], part[PATH_MAX];
	struct live_sums now, stored;        /* sums with and without rows that are not committed */
	double compute_ns;                   /* value last written, as a counter must not fall */
	int64_t lost_count;                  /* records that removed segments had lost */
	uint64_t due_ns;
	struct live_labels {
		char *job_id, *run_id, *version; /* id of the job, or of the run if it has no job */
		int64_t rank, local_rank;
	} labels;
	bool is_labelled, is_remote, warned;
};

/* What the batches of an epoch have in common. */
struct live_place {
	struct life consumer;
	int64_t tid, workers; /* workers < 0: not known */
	bool nested;
	int64_t setup_begin_ns, setup_ns; /* when and how long the epoch's iterator was made */
};

/* Begins the metrics of the run whose segments are in folder `segment_dir`. */
void live_begin(struct live *live, const char *segment_dir);

/* Returns `live`, or NULL if no metrics are wanted. */
static inline struct live *live_wanted(struct live *live)
{
	return live->path[0] && !live->is_remote ? live : NULL;
}

/* Ends the metrics and removes their file. */
void live_end(struct live *live);

/* Counts a written row; `loaded` and `delivered` say whether it has a load and a wait. */
void live_row(struct live *live, const struct live_place *of, const struct batch_values *row,
	      bool loaded, bool delivered);

/* Counts the end of an epoch, by a next() call that took `ns`. */
void live_stop(struct live *live, const struct live_place *of, int64_t begin_ns, int64_t ns);

/* Called when rows were committed; live_rewind(): when they will be written again. */
void live_committed(struct live *live);
void live_rewind(struct live *live);

/* Writes the file if that is due. A failure becomes a note, once. Returns 0 or -errno. */
int live_update(struct live *live, struct db *db, struct writer *writer,
		struct segment *const *segments, size_t count, uint64_t now_ns);
