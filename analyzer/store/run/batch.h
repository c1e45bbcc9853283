/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h - reads delivered batches and their loads, as rows or as sums; results as in query.h. */
#pragma once

#include "analysis/account/load.h"
#include "analysis/account/step_parts.h"
#include "analysis/predict/flight.h"
#include "store/run/query.h"

/* A delivered batch and its load: columns of the views `batch` and `load`; UNKNOWN for NULL. */
struct batch_record {
#define X(name) int64_t name;
	BATCH_COLUMNS(X)
	BATCH_COPIED(X)
#undef X
	int64_t other_ns;
};

/* Calls `row` for every batch in order; a result that is not 0 ends the reading and is returned. */
int batch_each(struct db *db, const struct batch_filter *filter,
	       int (*row)(const struct batch_record *record, void *context), void *context);

/* Calls `row` for the last `count` delivered batches of a loader, the newest first. */
int batch_newest(struct db *db, int64_t loader_id, int64_t count,
		 int (*row)(const struct batch_record *record, void *context), void *context);

/* Sums the columns of the filter's delivered batches; UNKNOWN if no batch has a value. */
int batch_totals(struct db *db, const struct batch_filter *filter, struct load_totals *ret_totals);
/* Initialises the sums as those of no batch. */
void batch_totals_init(struct load_totals *totals);

/* Sums the parts of the steps of the filter's batches. */
int batch_parts(struct db *db, const struct batch_filter *filter, struct step_sums *ret);

/* Counts each worker's first loads and the bytes they read; others' entries are not changed. */
int batch_reads(struct db *db, const struct batch_filter *filter, size_t workers,
		double *ret_loads, double *ret_bytes);

/* Reads the first loads of known begin, length and CPU time, at most FLIGHT_MOST. */
int batch_flights(struct db *db, const struct batch_filter *filter, struct flight_load *ret_loads,
		  size_t *ret_count);

/* Returns times for the analysis, NAN if not observed. A single batch has no `blocked_ns`. */
struct load_times batch_times(const struct batch_record *record);
struct load_times batch_totals_times(const struct load_totals *totals);
