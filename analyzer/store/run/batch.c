/* SPDX-License-Identifier: Apache-2.0 */
#include "store/run/batch.h"

#include <errno.h>
#include <math.h>

#include "store/database/rows.h"
#include "store/run/pack.h"

#define NAME(name) #name ", "
#define SELECT_BATCH                                                                               \
	"SELECT " BATCH_COLUMNS(NAME) BATCH_COPIED(NAME) BATCH_OTHER_SQL " FROM t_batch"
static const char *const BATCHES_SQL[ROWS_FORMS] = ROWS_ORDERS(SELECT_BATCH, "");

/* SQLite reads only ?2 rows and sorts none, since this is the order of the primary key. */
static const char NEWEST_SQL[] =
	SELECT_BATCH " WHERE loader_id = ?1 AND batch IS NOT NULL ORDER BY epoch DESC, task DESC"
		     " LIMIT ?2";

/* A sum of floats cannot overflow. NULL if nothing was observed. */
#define SUM(name, sql)	  ", SUM(" #name " * 1.0)"
#define COLUMN(name, sql) ", " sql " AS " #name
#define SELECT_TOTALS                                                                              \
	"SELECT COUNT(load_ns), COUNT(decode_ns)" LOAD_SUMS(SUM)                                   \
	" FROM (SELECT batch" LOAD_SUMS(COLUMN) " FROM t_batch"
static const char *const TOTALS_SQL[ROWS_FORMS] = ROWS_SUMS(SELECT_TOTALS, ")");
static const char RUN_TOTALS_SQL[] = SELECT_TOTALS " WHERE load_ns IS NOT NULL)";

/* Counts each worker's loads and bytes in 65,536 loads at most, enough to compare workers. */
static const char *const READS_SQL[ROWS_FORMS] = ROWS_ORDERS(
	"SELECT worker_id, COUNT(read_bytes), SUM(read_bytes * 1.0)"
	" FROM (SELECT * FROM (SELECT worker_id, read_bytes FROM t_batch",
	") LIMIT 65536) GROUP BY worker_id");

static const char *const FLIGHTS_SQL[ROWS_FORMS] =
	ROWS_ORDERS("SELECT epoch, load_begin_ns, load_ns, cpu_ns, samples FROM t_batch", "");

static void take_batch(sqlite3_stmt *stmt, struct batch_record *ret)
{
	int at = 0;

#define X(name) ret->name = rows_time(stmt, at++);
	BATCH_COLUMNS(X)
	BATCH_COPIED(X)
	X(other_ns)
#undef X
}

static void take_totals(sqlite3_stmt *stmt, struct load_totals *ret)
{
	int at = 0;

	ret->load_count = rows_time(stmt, at++);
	ret->decode_seen_count = rows_time(stmt, at++);
#define X(name, sql) ret->name = rows_time(stmt, at++);
	LOAD_SUMS(X)
#undef X
}

static int hand_out(sqlite3_stmt *stmt,
		    int (*row)(const struct batch_record *record, void *context), void *context)
{
	struct batch_record record;
	int r;

	while ((r = rows_next(stmt)) == 1) {
		take_batch(stmt, &record);
		r = row(&record, context);
		if (r)
			return r;
	}
	return r;
}

int batch_each(struct db *db, const struct batch_filter *filter,
	       int (*row)(const struct batch_record *record, void *context), void *context)
{
	ROWS *stmt = NULL;
	int r = rows_of_batches(db, BATCHES_SQL, filter, &stmt);

	return r < 0 ? r : hand_out(stmt, row, context);
}

int batch_newest(struct db *db, int64_t loader_id, int64_t count,
		 int (*row)(const struct batch_record *record, void *context), void *context)
{
	ROWS *stmt = NULL;
	int r = rows_ask(db, &stmt, NEWEST_SQL, "nn", loader_id, count);

	return r < 0 ? r : hand_out(stmt, row, context);
}

int batch_totals(struct db *db, const struct batch_filter *filter, struct load_totals *ret_totals)
{
	struct pack_head head;
	ROWS *stmt = NULL;
	int r = rows_is_whole(filter) ? pack_read_head(db, filter->loader_id, &head) : -ENOENT;

	if (r == 0)
		*ret_totals = head.totals;
	if (r != -ENOENT)
		return r;
	r = rows_of_batches(db, TOTALS_SQL, filter, &stmt);
	if (r == 0)
		r = rows_next(stmt);
	if (r == 1)
		take_totals(stmt, ret_totals);
	return r < 0 ? r : 0;
}

int batch_totals_of_run(struct db *db, struct load_totals *ret_totals)
{
	ROWS *stmt = NULL;
	int r;

	batch_totals_init(ret_totals);
	if (pack_sum_totals(db, ret_totals) == 0)
		return 0;
	r = rows_first(db, &stmt, RUN_TOTALS_SQL, "");
	if (r == 1)
		take_totals(stmt, ret_totals);
	return r < 0 ? r : 0;
}

static const char SAVED_SQL[] =
	"SELECT TOTAL(MAX(save_ns, 0)) FROM t_epoch WHERE loader_id = ?1 AND save_ns > 0";

int batch_parts(struct db *db, const struct batch_filter *filter, struct step_sums *ret)
{
	struct load_totals totals;
	ROWS *stmt = NULL;
	int r = batch_totals(db, filter, &totals);

	if (r == 0)
		r = rows_first(db, &stmt, SAVED_SQL, "n", filter->loader_id);
	if (r < 0)
		return r;
	*ret = (struct step_sums){
		.ns = {[STEP_BEFORE] = query_known(totals.before_ns),
		       [STEP_BACKWARD] = query_known(totals.backward_ns),
		       [STEP_BETWEEN] = query_known(totals.between_ns),
		       [STEP_OPTIMIZER] = query_known(totals.optimizer_ns),
		       [STEP_SAVE] = query_known(totals.save_ns)},
		.compute_ns = query_known(totals.compute_ns),
		/* Saves between epochs count only if the filter takes all batches. */
		.save_ns = rows_is_whole(filter) ? query_known(rows_time(stmt, 0)) : 0,
	};
	return 0;
}

int batch_reads(struct db *db, const struct batch_filter *filter, size_t workers,
		double *ret_loads, double *ret_bytes)
{
	ROWS *stmt = NULL;
	int r = rows_of_batches(db, READS_SQL, filter, &stmt);

	while (r >= 0 && (r = rows_next(stmt)) == 1) {
		int64_t worker = rows_time(stmt, 0), bytes = rows_time(stmt, 2);

		if (worker < 0 || (size_t)worker >= workers || bytes < 0)
			continue;
		ret_loads[worker] = (double)rows_time(stmt, 1);
		ret_bytes[worker] = (double)bytes;
	}
	return r;
}

int batch_flights(struct db *db, const struct batch_filter *filter, struct flight_load *ret_loads,
		  size_t *ret_count)
{
	ROWS *stmt = NULL;
	int r = rows_of_batches(db, FLIGHTS_SQL, filter, &stmt);

	*ret_count = 0;
	while (r >= 0 && *ret_count < FLIGHT_MOST && (r = rows_next(stmt)) == 1) {
		const struct flight_load load = {
			.epoch = rows_small(stmt, 0),
			.begin_ns = rows_time(stmt, 1),
			.load_ns = rows_time(stmt, 2),
			.cpu_ns = rows_time(stmt, 3),
			.samples = rows_small(stmt, 4),
		};

		if (load.begin_ns >= 0 && load.load_ns > 0 && load.cpu_ns >= 0)
			ret_loads[(*ret_count)++] = load;
	}
	return r < 0 ? r : 0;
}

void batch_totals_init(struct load_totals *totals)
{
	totals->load_count = totals->decode_seen_count = 0;
#define X(name, sql) totals->name = UNKNOWN;
	LOAD_SUMS(X)
#undef X
}

/* members with the same names in struct batch_record and struct load_totals */
#define LOAD_TIMES(of)                                                                             \
	.load_ns = query_known((of)->load_ns), .cpu_ns = query_known((of)->cpu_ns),                \
	.open_ns = query_known((of)->open_ns), .read_ns = query_known((of)->read_ns),              \
	.decode_ns = query_known((of)->decode_ns), .collate_ns = query_known((of)->collate_ns),    \
	.other_ns = query_known((of)->other_ns)

struct load_times batch_times(const struct batch_record *record)
{
	return (struct load_times){LOAD_TIMES(record), .blocked_ns = NAN};
}

struct load_times batch_totals_times(const struct load_totals *totals)
{
	return (struct load_times){LOAD_TIMES(totals),
				   .blocked_ns = query_known(totals->blocked_ns),
				   .read_count = query_known(totals->read_count),
				   .read_bytes = query_known(totals->read_bytes),
				   .samples = query_known(totals->samples),
				   .storage_bytes = query_known(totals->storage_bytes)};
}
