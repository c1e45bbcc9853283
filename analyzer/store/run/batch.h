/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h - reads delivered batches and their loads, as rows or sums. Results: see query.h. */
#pragma once

#include "analysis/account/load.h"
#include "analysis/account/step_parts.h"
#include "analysis/predict/flight.h"
#include "store/run/query.h"

/* A row: columns of the views `batch` and `load`, in which NULL becomes UNKNOWN. */
struct batch_record {
#define X(name) int64_t name;
	BATCH_COLUMNS(X)
	BATCH_COPIED(X)
#undef X
	int64_t other_ns;
};

/* Calls `row` for each batch in order, until it returns other than 0; returns that result. */
int batch_each(struct db *db, const struct batch_filter *filter,
	       int (*row)(const struct batch_record *record, void *context), void *context);

/* Calls `row` for the last `count` delivered batches of a loader, newest first. */
int batch_newest(struct db *db, int64_t loader_id, int64_t count,
		 int (*row)(const struct batch_record *record, void *context), void *context);

/* Sums each column over the filter's delivered batches; UNKNOWN if no batch has a value. */
int batch_totals(struct db *db, const struct batch_filter *filter, struct load_totals *ret_totals);
void batch_totals_init(struct load_totals *totals);

/*
 * Counts all loads of the run, and sums up their times: in all, opening, reading, collating, on the
 * CPU, blocked. Sums of packs are 0 where no batch has a value.
 */
int batch_totals_of_run(struct db *db, struct load_totals *ret_totals);

int batch_parts(struct db *db, const struct batch_filter *filter, struct step_sums *ret);

/* Counts, in the filter's first loads, the loads and bytes read of each worker below `workers`. */
int batch_reads(struct db *db, const struct batch_filter *filter, size_t workers,
		double *ret_loads, double *ret_bytes);

/* Reads the first FLIGHT_MOST loads whose start, length and CPU time are known. */
int batch_flights(struct db *db, const struct batch_filter *filter, struct flight_load *ret_loads,
		  size_t *ret_count);

/* Return the parts of one load (without blocked_ns), or of all. NAN: not observed. */
struct load_times batch_times(const struct batch_record *record);
struct load_times batch_totals_times(const struct load_totals *totals);
