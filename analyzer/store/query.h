/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.h - questions to a dlprof database, answered as plain structs.
 *
 * Functions return 0 or a negative errno (db.h). Strings belong to the struct that holds them.
 */
#ifndef QUERY_H
#define QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/series.h"
#include "store/db.h"

#define QUERY_UNKNOWN SERIES_UNKNOWN

/* Strings are NULL and numbers QUERY_UNKNOWN where the run does not tell. */
struct run_info {
	char *id;
	char *version;
	char *command;
	char *host;
	char *kernel;
	char *frameworks;
	char *clock;			/* "host" or "gpu" */
	char *gpu;			/* its model */
	char *patch_missing;		/* comma-separated, "" if all were found */
	char *decoders_seen;		/* comma-separated: their calls were observed */
	char *decoders_hidden;		/* "LIBRARY in MODULE,...": copies that could not be */
	char *overhead;			/* what recording cost, as the run estimated it */
	int64_t start_unix_ns;
	int64_t start_ns;
	int64_t end_ns;			/* QUERY_UNKNOWN while it records */
	int64_t cpus;
	int64_t cpu_limit_milli;	/* thousandths of a core: a limit that is below `cpus` */
	int64_t main_cpu_ns;		/* of the main process, in so much time: */
	int64_t main_cpu_of_ns;
	int32_t synchronous;		/* the consumer waits for its steps to end; -1: unknown */
	int64_t rank;
	int64_t lost_count;		/* events that were dropped, all kinds */
	int64_t process_count;
};

int query_run(struct db *db, struct run_info *ret_run);
void run_info_done(struct run_info *run);

struct loader_info {
	int64_t loader_id;
	char kind[48];
	int64_t workers;		/* QUERY_UNKNOWN where not observed, as below */
	int64_t prefetch_factor;
	int64_t in_order;
	int64_t persistent;
	int64_t batch_size;
	int64_t batch_count;		/* delivered */
	int64_t epoch_count;
	int64_t time_ns;		/* sum of wait and compute */
};

/* All loaders, the one with the most time first; *ret_loaders is to be freed, NULL if none. */
int query_loaders(struct db *db, struct loader_info **ret_loaders, size_t *ret_count);

/* What a caller wants of a loader's delivered batches; -1: no limit. */
struct batch_filter {
	int64_t loader_id;
	int64_t epoch;
	int64_t first;			/* position among those of loader and epoch, from 0 */
	int64_t last;			/* inclusive */
};

/*
 * Fills `series` (initialised by the caller), workers and the like included. A time below 0 is
 * no time: it is taken as not observed.
 */
int query_series(struct db *db, const struct batch_filter *filter, struct batch_series *series);

/*
 * For the other files of this folder: a statement on the filter's batches, ?1 to ?4 bound. sql[1] may
 * take the order of tasks for the order of delivery. To be finalized, also after an error.
 */
struct sqlite3_stmt;
int query_prepare_batches(struct db *db, const char *const sql[2],
			  const struct batch_filter *filter, struct sqlite3_stmt **ret_stmt);

/* A delivered batch and its load, as the views of these names; QUERY_UNKNOWN for NULL. */
struct batch_record {
	int64_t loader_id, epoch, batch, begin_ns, wait_ns, receive_ns, step_ns, compute_ns;
	int64_t worker_id, load_begin_ns, load_ns, ready_ns, head_ready, qdepth, hol_ns;
	int64_t collate_ns, transfer_ns, cpu_ns, samples, open_count, open_ns, read_count;
	int64_t read_bytes, read_ns, storage_bytes, decode_count, decode_ns, other_ns;
	int64_t gpu_busy_ns, gpu_idle_wait_ns, h2d_ns, h2d_bytes;
};

/* Calls `row` for every batch in order; stops with its result if that is not 0. */
int query_batches(struct db *db, const struct batch_filter *filter,
		  int (*row)(const struct batch_record *record, void *context), void *context);

/* Sums over the delivered batches of a loader; QUERY_UNKNOWN where no batch has the column. */
struct load_totals {
	int64_t load_count;		/* batches whose load was observed */
	int64_t decode_seen_count;	/* loads in which decoding was observed */
	int64_t load_ns, open_ns, read_ns, decode_ns, collate_ns, other_ns, cpu_ns, transfer_ns;
	int64_t queue_ns;		/* finished and waiting to be asked for */
	int64_t receive_ns, hol_ns, open_count, read_count, read_bytes, storage_bytes, samples;
	int64_t blocked_ns;		/* of other_ns: in locks, queues, sleep() */
};

int query_load_totals(struct db *db, const struct batch_filter *filter,
		      struct load_totals *ret_totals);

/* Time of every DataLoader.__iter__ of a loader after its first, summed: starting workers. */
int query_epoch_setup(struct db *db, int64_t loader_id, int64_t *ret_setup_ns,
		      int64_t *ret_epoch_count);

/* Notes of level warning, oldest first, as one string each; *ret_notes and each to be freed. */
int query_notes(struct db *db, char ***ret_notes, size_t *ret_count);

#endif
