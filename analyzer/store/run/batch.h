/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h - delivered batches and their loads, one by one or summed. Results as in query.h. */
#pragma once

#include "analysis/account/load.h"
#include "analysis/account/step_parts.h"
#include "analysis/predict/flight.h"
#include "store/run/query.h"

/* A delivered batch and its load, like the views `batch` and `load`; UNKNOWN for NULL. */
struct batch_record {
#define X(name) int64_t name;
	BATCH_COLUMNS(X)
	BATCH_COPIED(X)
#undef X
	int64_t other_ns;
};

/* Calls `row` for every batch in order; stops with its result if that is not 0. */
int batch_each(struct db *db, const struct batch_filter *filter,
	       int (*row)(const struct batch_record *record, void *context), void *context);

/* Calls `row` for the last `count` delivered batches of a loader, the newest first. */
int batch_newest(struct db *db, int64_t loader_id, int64_t count,
		 int (*row)(const struct batch_record *record, void *context), void *context);

/* Sums over the delivered batches of a loader; UNKNOWN where no batch has the column. */
int batch_totals(struct db *db, const struct batch_filter *filter, struct load_totals *ret_totals);
/* Sums over no batch. */
void batch_totals_init(struct load_totals *totals);

/* The sums of the parts of a loader's steps. */
int batch_parts(struct db *db, const struct batch_filter *filter, struct step_sums *ret);

/*
 * Counts each worker's known first loads, and what they read; a worker without any stays as it is.
 */
int batch_reads(struct db *db, const struct batch_filter *filter, size_t workers,
		double *ret_loads, double *ret_bytes);

/* The first loads of known begin, length and CPU time; `ret_loads` has room for FLIGHT_MOST. */
int batch_flights(struct db *db, const struct batch_filter *filter, struct flight_load *ret_loads,
		  size_t *ret_count);

/* The same times for the analysis, NAN where not observed. A single batch has no `blocked_ns`. */
struct load_times batch_times(const struct batch_record *record);
struct load_times batch_totals_times(const struct load_totals *totals);
