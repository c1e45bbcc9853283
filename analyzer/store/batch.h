/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h - delivered batches and their loads, one by one or summed. As query.h. */
#ifndef BATCH_H
#define BATCH_H

#include "analysis/load.h"
#include "store/query.h"

/* A delivered batch and its load, as the views of these names; QUERY_UNKNOWN for NULL. */
struct batch_record {
	int64_t loader_id, epoch, batch, begin_ns, wait_ns, receive_ns, step_ns, compute_ns;
	int64_t worker_id, load_begin_ns, load_ns, ready_ns, head_ready, qdepth, hol_ns;
	int64_t collate_ns, transfer_ns, cpu_ns, samples, open_count, open_ns, read_count;
	int64_t read_bytes, read_ns, storage_bytes, decode_count, decode_ns, other_ns;
	int64_t gpu_busy_ns, gpu_idle_wait_ns, h2d_ns, h2d_bytes;
};

/* Calls `row` for every batch in order; stops with its result if that is not 0. */
int batch_each(struct db *db, const struct batch_filter *filter,
	       int (*row)(const struct batch_record *record, void *context), void *context);

/* Sums over the delivered batches of a loader; QUERY_UNKNOWN where no batch has the column. */
struct load_totals {
	int64_t load_count;        /* batches whose load was observed */
	int64_t decode_seen_count; /* loads in which decoding was observed */
	int64_t load_ns, open_ns, read_ns, decode_ns, collate_ns, other_ns, cpu_ns, transfer_ns;
	int64_t queue_ns; /* finished and waiting to be asked for */
	int64_t receive_ns, hol_ns, open_count, read_count, read_bytes, storage_bytes, samples;
	int64_t blocked_ns; /* of other_ns: in locks, queues, sleep() */
};

/* Of no batch. */
void batch_totals_init(struct load_totals *totals);
int batch_totals(struct db *db, const struct batch_filter *filter, struct load_totals *ret_totals);

/* How many of the first loads of each worker are known, and what they read; others keep theirs. */
int batch_reads(struct db *db, const struct batch_filter *filter, size_t workers,
		double *ret_loads, double *ret_bytes);

/* For the analysis: NAN where not observed. Of a single batch, `blocked_ns` is not. */
struct load_times batch_times(const struct batch_record *record);
struct load_times batch_totals_times(const struct load_totals *totals);

#endif
