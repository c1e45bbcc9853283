/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h - reads delivered batches and their loads, as rows or sums. See query.h for results. */
#pragma once

#include "analysis/account/load.h"
#include "analysis/account/step_parts.h"
#include "analysis/predict/flight.h"
#include "store/run/query.h"

/* A row of the views `batch` and `load`. UNKNOWN stands for NULL. */
struct batch_record {
#define X(name) int64_t name;
	BATCH_COLUMNS(X)
	BATCH_COPIED(X)
#undef X
	int64_t other_ns;
};

/* Calls `row` for each batch in order, until it returns other than 0. Returns the last result. */
int batch_each(struct db *db, const struct batch_filter *filter,
	       int (*row)(const struct batch_record *record, void *context), void *context);

/* Calls `row` for the last `count` delivered batches of a loader, from the newest on. */
int batch_newest(struct db *db, int64_t loader_id, int64_t count,
		 int (*row)(const struct batch_record *record, void *context), void *context);

/* Sums each column over the filter's delivered batches; UNKNOWN if no batch has a value. */
int batch_totals(struct db *db, const struct batch_filter *filter, struct load_totals *ret_totals);
void batch_totals_init(struct load_totals *totals);

/* Sums over all loads of the run, delivered or not. Of packs, a sum without any value is 0. */
int batch_totals_of_run(struct db *db, struct load_totals *ret_totals);

int batch_parts(struct db *db, const struct batch_filter *filter, struct step_sums *ret);

/* Counts loads and bytes read by each worker below `workers`, in the first loads of the filter. */
int batch_reads(struct db *db, const struct batch_filter *filter, size_t workers,
		double *ret_loads, double *ret_bytes);

/* Reads the first FLIGHT_MOST loads of which start, length and CPU time are known. */
int batch_flights(struct db *db, const struct batch_filter *filter, struct flight_load *ret_loads,
		  size_t *ret_count);

/* Return the parts of one load (without blocked_ns), or summed over all. NAN: not observed. */
struct load_times batch_times(const struct batch_record *record);
struct load_times batch_totals_times(const struct load_totals *totals);
