/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h - writes a running run's metrics to a file for Prometheus, in DLPROF_METRICS_DIR.
 *
 * Every 15 seconds FOLDER/dlprof-PID-TICKS.prom is written under another name and renamed. The file
 * is removed when the run is over. If a drain is killed, another drain removes its file after five
 * minutes. Metrics are sums over the rows that this drain has written. After a restart they begin
 * at 0, which Prometheus can handle.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "drain/segments/segment.h"
#include "store/write/write.h"

enum metric {
#define METRIC(id, name, type, part, help) METRIC_##id,
#include "drain/metrics/metrics.def"
	METRIC_MAX
};

/* Facts of the run. Texts may be NULL. */
struct live_labels {
	char *job_id, *run_id, *version; /* run_id stands for a missing job_id */
	int64_t rank, local_rank;        /* < 0: unknown */
};

/* Writes values, in units of Prometheus (NAN: left out). Call ferror(out) to learn of errors. */
void metrics_put(FILE *out, const struct live_labels *labels, const double value[METRIC_MAX]);

#define LIVE_STEPS   512
/* most training threads with an account; of the others only batches are counted */
#define LIVE_THREADS 8

struct live_thread {
	struct life life;
	int64_t tid;
	double begin_ns, end_ns;
};

struct live_sums {
	double value[METRIC_MAX];
	/* histogram: steps[i] counts steps of about 2^(i / 8) ns */
	uint32_t steps[LIVE_STEPS];
	uint32_t step_count;
	struct live_thread threads[LIVE_THREADS];
	size_t thread_count;
};

struct live {
	/* path of the finished and of the unfinished file; "": no file is wanted */
	char path[PATH_MAX], part[PATH_MAX];
	struct live_sums now, stored; /* sums over all rows written, and over the rows committed */
	double compute_ns;            /* its value as last written: a counter must not fall */
	int64_t lost_count;           /* records that removed segments had lost */
	uint64_t due_ns;
	struct live_labels labels;
	bool is_labelled, is_remote, warned;
};

struct live_place {
	struct life consumer;
	int64_t tid, workers; /* workers < 0: unknown */
	bool nested;
	int64_t setup_begin_ns, setup_ns;
};

void live_begin(struct live *live, const char *segment_dir);

/* Returns `live`, or NULL if no metrics are wanted. */
static inline struct live *live_wanted(struct live *live)
{
	return live->path[0] && !live->is_remote ? live : NULL;
}

void live_end(struct live *live);

/* Adds a row. `loaded`: the row has a load; `delivered`: it has a wait. */
void live_row(struct live *live, const struct live_place *of, const struct batch_values *row,
	      bool loaded, bool delivered);

void live_stop(struct live *live, const struct live_place *of, int64_t begin_ns, int64_t ns);

/* Set the sums to the database's: call the first after a commit, the other after a rollback. */
void live_committed(struct live *live);
void live_rewind(struct live *live);

/* Writes the file if the last one is old enough. Only the first failure becomes a note. */
int live_update(struct live *live, struct db *db, struct writer *writer,
		struct segment *const *segments, size_t count, uint64_t now_ns);
