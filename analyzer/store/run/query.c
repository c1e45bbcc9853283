/* SPDX-License-Identifier: Apache-2.0 */
/* query.c - reads tables only: a view in the file does whatever the file's author wanted. */
#include "store/run/query.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/account/account.h"
#include "analysis/statistics/clamp.h"
#include "dlprof/units.h"
#include "store/database/meta.h"
#include "store/database/rows.h"
#include "store/run/pack.h"

#define LEAST_UNSEEN 0.02 /* if unknown programs use less of a core than this, they are ignored */
#define MOST_CORES   1e6

static double rate(int64_t ns, int64_t of_ns)
{
	return ns >= 0 && of_ns > 0 ? (double)ns / (double)of_ns : NAN;
}

static double rate_of_core(int64_t ran_ns, int64_t waited_ns)
{
	int64_t of_ns;

	if (ran_ns < 0 || waited_ns < 0 || __builtin_add_overflow(ran_ns, waited_ns, &of_ns))
		return NAN;
	return rate(ran_ns, of_ns);
}

static bool is_sane(double value)
{
	return value >= 0 && value <= MOST_CORES;
}

static void read_neighbours(const char *text, struct share *share)
{
	struct share_neighbour n;
	char kind;

	while (text && share->count < SHARE_NEIGHBOURS - 1) {
		if (sscanf(text, " %c %lf %lf %lf", &kind, &n.weight, &n.ran, &n.wanted) == 4 &&
		    is_sane(n.weight) && n.weight > 0 && is_sane(n.ran) && is_sane(n.wanted)) {
			n.is_group = kind == 'g';
			share->neighbours[share->count++] = n;
		}
		text = strchr(text, ';');
		text += text != NULL;
	}
}

/* Adds a neighbour for cores that no known program uses: short-lived ones, other containers. */
static void add_unseen(double other_cores, double own_share, struct share *share)
{
	double ran = other_cores;

	for (size_t i = 0; i < share->count; i++)
		ran -= share->neighbours[i].ran;
	if (!(ran > LEAST_UNSEEN))
		return;
	share->neighbours[share->count++] = (struct share_neighbour){
		.is_group = true,
		.weight = 1,
		.ran = ran,
		.wanted = own_share > 0 ? ran / own_share : ran,
	};
}

static void cores_read(const struct run_info *run, struct batch_series *series)
{
	double all = run->cpus > 0 && run->cpus <= INT32_MAX ? (double)run->cpus : NAN;
	double limit = run->cpu_limit_milli > 0 ? (double)run->cpu_limit_milli / 1e3 : NAN;
	double helpers, affinity =
		run->affinity > 0 && run->affinity <= INT32_MAX ? (double)run->affinity : all;

	series->cores = fmin(all, limit);
	series->main_cores = rate(run->main_cpu_ns, run->main_cpu_of_ns);
	series->other_cores = rate(run->other_cpu_ns, run->other_cpu_of_ns);
	series->main_share = rate_of_core(run->main_ran_ns, run->main_waited_ns);
	series->worker_share = rate_of_core(run->workers_ran_ns, run->workers_waited_ns);
	series->share = (struct share){.cores = series->cores, .all = affinity};
	read_neighbours(run->neighbours, &series->share);
	add_unseen(series->other_cores, fmin(series->main_share, series->worker_share),
		   &series->share);
	share_bound(&series->share);
	/* What the run itself started, such as a Manager, is not another program. */
	helpers = rate(run->helpers_cpu_ns, run->main_cpu_of_ns);
	if (helpers > 0 && !isnan(series->other_cores))
		series->other_cores = fmax(series->other_cores - helpers, 0);
	/* On cores that the run may not use because of its limit, others do no harm. */
	if (limit < affinity && !isnan(series->other_cores))
		series->other_cores = fmax(series->other_cores - (affinity - limit), 0);
}

static const char COUNT_SQL[] = "SELECT (SELECT CAST(TOTAL(count) AS INTEGER) FROM t_loss"
				"  WHERE what = 'events'),"
				" (SELECT COUNT(*) FROM t_process), IFNULL((SELECT CAST(value AS"
				"  INTEGER) FROM t_meta WHERE key = 'rank'), 0),"
				" (SELECT COUNT(*) FROM t_note WHERE level = 'doubt')";

/* The main process's end; workers killed by signals other than HUP, INT, PIPE and TERM. */
static const char ENDS_SQL[] =
	"SELECT m.exit = 'gone', m.exit_status, w.count, w.worker_id, w.exit_status, m.end_ns FROM"
	" (SELECT COUNT(*) AS count, MIN(worker_id) AS worker_id, exit_status FROM t_process"
	"  WHERE role = 'worker' AND exit_status & 127 NOT IN (0, 1, 2, 13, 15)) w"
	" LEFT JOIN (SELECT exit, exit_status, end_ns FROM t_process WHERE pid ="
	"  (SELECT CAST(value AS INTEGER) FROM t_meta WHERE key = 'pid') AND exit IS NOT 'exec'"
	"  ORDER BY start_ns LIMIT 1) m";

/* A loader belongs to the thread that took its first epoch. */
#define OWNER_SQL                                                                                  \
	" pid, (SELECT MAX(tid) FROM t_epoch e WHERE e.loader_id = id.loader_id AND epoch ="       \
	"  (SELECT MIN(epoch) FROM t_epoch f WHERE f.loader_id = id.loader_id)),"                  \
	" IFNULL((SELECT MAX(nested) FROM t_epoch e WHERE e.loader_id = id.loader_id), 0) > 0,"    \
	" place, (SELECT MAX(start_ns) FROM t_process p WHERE p.pid = t_loader.pid AND"            \
	"  start_ns <= number), lacks_order"

/* A loader whose own record was lost is listed if it has batches. */
static const char LOADERS_SQL[] =
	"WITH part AS (SELECT loader_id, epoch, COUNT(batch) AS batches,"
	"  TOTAL(CASE WHEN batch IS NOT NULL THEN"
	"   MAX(IFNULL(wait_ns, 0), 0) + MAX(IFNULL(compute_ns, 0), 0) END) AS ns"
	"  FROM t_batch GROUP BY loader_id, epoch),"
	" whole AS MATERIALIZED (SELECT loader_id, TOTAL(batches) AS batches,"
	"  TOTAL(batches > 0) AS epochs, TOTAL(ns) AS ns FROM part GROUP BY loader_id),"
	" id AS (SELECT loader_id FROM t_loader UNION SELECT loader_id FROM whole)"
	"SELECT id.loader_id, kind, workers, prefetch_factor, in_order, persistent, batch_size,"
	" CAST(IFNULL(batches, 0) AS INTEGER), CAST(IFNULL(epochs, 0) AS INTEGER),"
	" CAST(IFNULL(ns, 0) AS INTEGER)," OWNER_SQL
	" FROM id LEFT JOIN t_loader USING (loader_id) LEFT JOIN whole USING (loader_id)";

/* Lists loaders without reading their batches, if packs have the sums over these. */
static const char PACKED_SQL[] = ROWS_LOADERS
	", id AS (SELECT loader_id FROM t_loader UNION"
	"  SELECT loader_id FROM part WHERE loader_id IS NOT NULL)"
	"SELECT id.loader_id, kind, workers, prefetch_factor, in_order, persistent, batch_size,"
	" 0, 0, 0," OWNER_SQL " FROM id LEFT JOIN t_loader USING (loader_id)";

/* A loader that had several workers 0 was made again: its workers did not persist. */
static const char LOADER_SQL[] =
	"SELECT workers, prefetch_factor, in_order, CASE WHEN persistent = 1 AND"
	"  (SELECT COUNT(*) FROM t_process p WHERE p.loader_id = t_loader.loader_id AND"
	"   role = 'worker' AND worker_id = 0) > 1 THEN 0 ELSE persistent END,"
	" kind LIKE '%(iterable)',"
	" kind LIKE 'mxnet.gluon%' OR kind LIKE 'paddle.io%', kind LIKE 'mxnet.gluon%',"
	" kind LIKE 'paddle.io%' AND NOT EXISTS (SELECT 1 FROM t_process p"
	"  WHERE p.loader_id = t_loader.loader_id AND role = 'worker')"
	" FROM t_loader WHERE loader_id = ?1";

static const char *const SERIES_SQL[ROWS_FORMS] = ROWS_ORDERS(
	"SELECT wait_ns, compute_ns, load_ns, gpu_idle_wait_ns, gpu_busy_ns, step_ns, cpu_ns,"
	" epoch, batch, worker_id, head_ready, qdepth, begin_ns, load_begin_ns, receive_ns,"
	" sample_ns, free_ns, fetch_count, fetch_ns, fetch_cpu_ns"
	" FROM t_batch",
	"");

static const char EPOCHS_SQL[] =
	"SELECT epoch, begin_ns, setup_ns, stop_begin_ns, stop_ns,"
	" (SELECT MAX(load_begin_ns) FROM (SELECT load_begin_ns FROM t_batch b"
	"   WHERE b.loader_id = e.loader_id AND b.epoch = e.epoch ORDER BY task LIMIT ?4))"
	"  - begin_ns - setup_ns, sample_ns"
	" FROM t_epoch e WHERE loader_id = ?1 AND epoch >= ?2 AND epoch <= ?3 ORDER BY epoch";

static const char NOTES_SQL[] = "SELECT text FROM t_note"
				" WHERE level IN ('doubt', 'warning') ORDER BY level, rowid";
static const char SET_SQL[] = "SELECT text FROM t_note WHERE level = 'set' ORDER BY rowid";

#define FIELD(id, type, member) {META_##id, offsetof(struct run_info, member)},
static const struct meta_field FIELDS[] = {RUN_FACTS(FIELD)};

static int read_ends(struct db *db, struct run_info *run)
{
	ROWS *stmt = NULL;
	int r = rows_first(db, &stmt, ENDS_SQL, "");

	if (r < 0)
		return r;
	run->is_gone = sqlite3_column_int(stmt, 0) == 1;
	run->exit_status = rows_time(stmt, 1);
	run->killed_count = sqlite3_column_int64(stmt, 2);
	run->killed_worker = rows_time(stmt, 3);
	run->killed_status = rows_time(stmt, 4);
	run->main_end_ns = rows_time(stmt, 5);
	return 0;
}

int query_run(struct db *db, struct run_info *ret_run)
{
	ROWS *stmt = NULL;
	int r;

	*ret_run = (struct run_info){0};
	r = meta_read(db, ret_run, FIELDS, ARRAY_COUNT(FIELDS));
	if (r == 0)
		r = rows_first(db, &stmt, COUNT_SQL, "");
	if (r >= 0)
		r = read_ends(db, ret_run);
	if (r < 0) {
		run_info_done(ret_run);
		return r;
	}
	if (ret_run->synchronous == UNKNOWN)
		ret_run->synchronous = -1;
	else
		ret_run->synchronous = ret_run->synchronous != 0;
	ret_run->lost_count = sqlite3_column_int64(stmt, 0);
	ret_run->process_count = sqlite3_column_int64(stmt, 1);
	ret_run->rank = sqlite3_column_int64(stmt, 2);
	ret_run->doubt_count = sqlite3_column_int64(stmt, 3);
	return 0;
}

void run_info_done(struct run_info *run)
{
	meta_free(run, FIELDS, ARRAY_COUNT(FIELDS));
	memset(run, 0, sizeof(*run));
}

static int take_loader(sqlite3_stmt *stmt, void *item)
{
	struct loader_info *loader = item;

	*loader = (struct loader_info){
		.loader_id = sqlite3_column_int64(stmt, 0),
		.workers = rows_time(stmt, 2),
		.prefetch_factor = rows_time(stmt, 3),
		.in_order = rows_time(stmt, 4),
		.persistent = rows_time(stmt, 5),
		.batch_size = rows_time(stmt, 6),
		.batch_count = sqlite3_column_int64(stmt, 7),
		.epoch_count = sqlite3_column_int64(stmt, 8),
		.time_ns = sqlite3_column_int64(stmt, 9),
		.pid = rows_time(stmt, 10),
		.tid = rows_time(stmt, 11),
		.nested = sqlite3_column_int(stmt, 12) != 0,
		.life_ns = rows_time(stmt, 14),
		.lacks_order = rows_time(stmt, 15),
	};
	rows_fill(stmt, 1, REDACT_TEXT, loader->kind, sizeof(loader->kind));
	rows_fill(stmt, 13, REDACT_PLACE, loader->place, sizeof(loader->place));
	return 1;
}

static int by_time(const void *a, const void *b)
{
	const struct loader_info *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns > right->time_ns ? -1 : 1;
	return left->loader_id < right->loader_id ? -1 : 1;
}

int query_loaders(struct db *db, struct loader_info **ret_loaders, size_t *ret_count)
{
	const size_t size = sizeof(**ret_loaders);
	int r = rows_list(db, PACKED_SQL, 0, size, take_loader, ret_loaders, ret_count);

	for (size_t i = 0; r == 0 && i < *ret_count; i++) {
		struct loader_info *loader = &(*ret_loaders)[i];
		struct pack_head head;

		r = pack_read_head(db, loader->loader_id, &head);
		if (r < 0)
			break;
		loader->batch_count = head.batch_count;
		loader->epoch_count = head.epoch_count;
		loader->time_ns = head.time_ns;
	}
	if (r == -ENOENT || (r == 0 && !*ret_count)) {
		free(*ret_loaders);
		r = rows_list(db, LOADERS_SQL, 0, size, take_loader, ret_loaders, ret_count);
	}
	if (r < 0) {
		free(*ret_loaders);
		*ret_loaders = NULL;
		return r;
	}
	if (*ret_count)
		qsort(*ret_loaders, *ret_count, sizeof(**ret_loaders), by_time);
	return 0;
}

static int query_loader(struct db *db, int64_t loader_id, struct batch_series *series)
{
	ROWS *stmt = NULL;
	int r = rows_first(db, &stmt, LOADER_SQL, "n", loader_id);

	if (r < 1)
		return r;
	series->workers = rows_small(stmt, 0);
	series->prefetch_factor = rows_small(stmt, 1);
	series->in_order = rows_small(stmt, 2);
	series->persistent = rows_small(stmt, 3);
	series->iterable = rows_small(stmt, 4);
	series->is_foreign = rows_small(stmt, 5);
	series->is_pooled = rows_small(stmt, 6);
	series->is_thread = rows_small(stmt, 7);
	return 0;
}

int64_t query_handover_ns(const struct batch_row *row, int64_t begin_ns, int64_t load_begin_ns)
{
	int64_t end_ns, ready_ns;

	if (begin_ns < 0 || load_begin_ns < 0 || row->load_ns < 0 || row->wait_ns < 0 ||
	    __builtin_add_overflow(load_begin_ns, row->load_ns, &ready_ns) ||
	    __builtin_add_overflow(begin_ns, row->wait_ns, &end_ns))
		return UNKNOWN;
	if (ready_ns <= begin_ns)
		return row->wait_ns;
	return ready_ns < end_ns ? end_ns - ready_ns : 0;
}

/* Adds the time of freeing memory, just after the hand-over, to wait and hand-over. */
static void add_free(struct batch_row *row, int64_t free_ns)
{
	if (free_ns <= 0 || row->wait_ns < 0)
		return;
	row->wait_ns = clamp_add(row->wait_ns, free_ns);
	if (row->handover_ns >= 0)
		row->handover_ns = clamp_add(row->handover_ns, free_ns);
}

/* Notes where batches and steps begin and end, and the thread's time outside of both. */
static void span_row(struct batch_series *series, const struct batch_row *row, int64_t begin_ns,
		     int64_t free_ns)
{
	const int64_t step_ns = row->step_ns;
	int64_t out_ns, end_ns;

	series->tail_begin_ns = step_ns < 0 && begin_ns >= 0 ? begin_ns : UNKNOWN;
	if (begin_ns < 0 || row->wait_ns < 0 ||
	    __builtin_add_overflow(begin_ns, row->wait_ns, &out_ns) ||
	    __builtin_add_overflow(begin_ns, step_ns > row->wait_ns ? step_ns : row->wait_ns,
				   &end_ns))
		return;
	if (series->first_ns == UNKNOWN)
		series->first_ns = out_ns;
	if (step_ns < 0)
		return;
	if (end_ns > series->last_ns)
		series->last_ns = end_ns;
	if (row->compute_ns >= 0)
		series->elsewhere_ns +=
			fmax((double)(end_ns - out_ns) - (double)row->compute_ns -
				     fmax((double)free_ns, 0),
			     0);
}

static void add_fetches(struct series_fetches *fetches, sqlite3_stmt *stmt)
{
	if (rows_time(stmt, 17) < 0)
		return;
	fetches->batches++;
	fetches->count += (double)rows_time(stmt, 17);
	fetches->ns += fmax((double)rows_time(stmt, 18), 0);
	fetches->cpu_ns += fmax((double)rows_time(stmt, 19), 0);
}

static int append_row(struct batch_series *series, sqlite3_stmt *stmt)
{
	int32_t ready = rows_small(stmt, 10);
	int64_t begin_ns = rows_time(stmt, 12), free_ns = rows_time(stmt, 16);
	struct batch_row row = {
		.load_cpu_ns = rows_time(stmt, 6),
		.epoch = rows_small(stmt, 7),
		.batch = rows_small(stmt, 8),
		.worker = rows_small(stmt, 9),
		.head_ready = ready < 0 ? -1 : ready > 0,
		.qdepth = rows_small(stmt, 11),
	};

	for (int i = 0; i < SERIES_TIMES - 2; i++) /* not sample_ns and handover_ns, the last two */
		row.times[i] = rows_time(stmt, i);
	row.sample_ns = rows_time(stmt, 15);
	/* A worker's first receive_ns includes other waits, so it does not count. */
	if (rows_time(stmt, 14) >= 0 && row.batch >= series->workers) {
		series->receive_ns += (double)rows_time(stmt, 14);
		series->receive_count++;
	}
	if (row.batch >= account_start_count(series->workers))
		add_fetches(&series->fetches, stmt);
	row.handover_ns = query_handover_ns(&row, begin_ns, rows_time(stmt, 13));
	span_row(series, &row, begin_ns, free_ns);
	add_free(&row, free_ns);
	return series_append(series, &row);
}

static int read_epochs(struct db *db, int64_t loader_id, int64_t first, int64_t last,
		       struct batch_series *series)
{
	int64_t workers = series->workers > 0 ? series->workers : 0;
	ROWS *stmt = NULL;
	int r = rows_ask(db, &stmt, EPOCHS_SQL, "nnnn", loader_id, first, last, workers);

	while (r == 0 && (r = rows_next(stmt)) == 1) {
		const struct series_epoch epoch = {
			.epoch = rows_small(stmt, 0),
			.begin_ns = rows_time(stmt, 1),
			.setup_ns = (float)query_known(rows_time(stmt, 2)),
			.stop_begin_ns = rows_time(stmt, 3),
			.stop_ns = (float)query_known(rows_time(stmt, 4)),
			.boot_ns = (float)query_known(rows_time(stmt, 5)),
			.sample_ns = (float)query_known(rows_time(stmt, 6)),
		};

		r = series_add_epoch(series, &epoch);
	}
	return r;
}

/* Reads the filter's batches and, if it takes whole epochs, the epochs' begins and ends. */
static int read_filtered(struct db *db, const struct batch_filter *filter,
			 struct batch_series *series)
{
	ROWS *stmt = NULL;
	int r = rows_of_batches(db, SERIES_SQL, filter, &stmt);

	while (r == 0 && (r = rows_next(stmt)) == 1)
		r = append_row(series, stmt);
	series->is_part = !rows_is_whole(filter) && series->run_count &&
			  (series->runs[0].epoch > 0 || series->runs[0].batch > 0);
	return r;
}

int query_series(struct db *db, const struct batch_filter *filter, struct batch_series *series)
{
	struct run_info run;
	int r = query_run(db, &run);

	if (r < 0)
		return r;
	series->lost_count = run.lost_count;
	cores_read(&run, series);
	series->synchronous = run.synchronous;
	run_info_done(&run);

	r = query_loader(db, filter->loader_id, series);
	if (r == 0 && filter->first < 0 && filter->last < 0)
		r = read_epochs(db, filter->loader_id, filter->epoch >= 0 ? filter->epoch : 0,
				 filter->epoch >= 0 ? filter->epoch : INT32_MAX, series);
	if (r < 0)
		return r;
	r = rows_is_whole(filter) ? pack_read_series(db, filter->loader_id, series) : -ENOENT;
	return r == -ENOENT ? read_filtered(db, filter, series) : r;
}

static int take_note(sqlite3_stmt *stmt, void *item)
{
	char **note = item;
	int r = rows_copy(stmt, 0, REDACT_TEXT, note);

	return r < 0 ? r : *note != NULL;
}

static int read_notes(struct db *db, const char *sql, char ***ret_notes, size_t *ret_count)
{
	int r = rows_list(db, sql, 0, sizeof(**ret_notes), take_note, ret_notes, ret_count);

	if (r == 0)
		return 0;
	while (*ret_count)
		free((*ret_notes)[--*ret_count]);
	free(*ret_notes);
	*ret_notes = NULL;
	return r;
}

int query_notes(struct db *db, char ***ret_notes, size_t *ret_count)
{
	return read_notes(db, NOTES_SQL, ret_notes, ret_count);
}

int query_set(struct db *db, char ***ret_changes, size_t *ret_count)
{
	return read_notes(db, SET_SQL, ret_changes, ret_count);
}

static const char ONLY_LOADER_SQL[] =
	ROWS_LOADERS "SELECT COUNT(loader_id), MIN(loader_id) FROM part";

static const char BEGINS_SQL[] = "SELECT epoch, begin_ns + MAX(IFNULL(setup_ns, 0), 0) FROM t_epoch"
				 " WHERE loader_id = ?1 AND begin_ns >= 0 ORDER BY epoch";

int query_rank_loaders(struct db *db, struct loader_info **ret_loaders, size_t *ret_count)
{
	struct loader_info only = {.pid = UNKNOWN, .tid = UNKNOWN};
	ROWS *stmt = NULL;
	int64_t count;
	int r = rows_first(db, &stmt, ONLY_LOADER_SQL, "");

	*ret_loaders = NULL;
	*ret_count = 0;
	if (r < 0)
		return r;
	count = sqlite3_column_int64(stmt, 0);
	only.loader_id = sqlite3_column_int64(stmt, 1);
	if (!count)
		return 0;
	if (count > 1)
		return query_loaders(db, ret_loaders, ret_count);
	*ret_loaders = malloc(sizeof(only));
	if (!*ret_loaders)
		return -ENOMEM;
	**ret_loaders = only;
	*ret_count = 1;
	return 0;
}

static int take_epoch(sqlite3_stmt *stmt, void *item)
{
	struct rank_epoch *epoch = item;

	epoch->epoch = rows_small(stmt, 0);
	epoch->begin_ns = rows_time(stmt, 1);
	return 1;
}

int query_rank_epochs(struct db *db, int64_t loader_id, int64_t offset_ns,
		      struct rank_epoch **ret_epochs, size_t *ret_count)
{
	int r = rows_list(db, BEGINS_SQL, loader_id, sizeof(**ret_epochs), take_epoch, ret_epochs,
			  ret_count);
	size_t kept = 0;

	for (size_t i = 0; i < *ret_count; i++) {
		struct rank_epoch *to = &(*ret_epochs)[kept], *from = &(*ret_epochs)[i];

		to->epoch = from->epoch;
		kept += !__builtin_add_overflow(from->begin_ns, offset_ns, &to->begin_ns);
	}
	*ret_count = kept;
	return r;
}

/*
 * If a window of time lacks its CPU time, the CPU's share of its own_ns is assumed to be that of
 * the other windows. DALI's first window is left out, as a buffer (initial_fill) is filled in it.
 */
#define STAGES_OF(epochs)                                                                          \
	"SELECT s.stage_id, (SELECT p.stage_id FROM t_stage p WHERE p.pid = s.pid"                 \
	"  AND p.number = s.parent), kind, name, kernel, root, autotuned, parallel, capacity,"     \
	" threads, SUM(elements), SUM(busy_ns), SUM(own_ns),"                                      \
	" SUM(cpu_ns) * 1.0 * SUM(own_ns) / NULLIF(SUM(IIF(cpu_ns IS NULL, 0, own_ns)), 0),"       \
	" SUM(read_ns), SUM(ready), SUM(window_ns)"                                                \
	" FROM t_stage_sum JOIN t_stage s USING (stage_id)"                                        \
	" WHERE loader_id = ?1 AND name IS NOT NULL AND begin_ns >= ("                             \
	"  SELECT MIN(begin_ns) + (l.kind IS 'DALI') FROM t_stage_sum JOIN t_loader l"             \
	"  USING (loader_id) WHERE loader_id = ?1)" epochs                                         \
	" GROUP BY s.stage_id ORDER BY s.stage_id LIMIT 512"

static const char STAGES_SQL[] = STAGES_OF("");
static const char LATER_STAGES_SQL[] =
	STAGES_OF(" AND epoch > (SELECT MIN(epoch) FROM t_stage_sum m WHERE m.loader_id = ?1)");

struct stage_row {
	struct stage_work stage;
	int64_t parent;
	double span_ns;
};

static double known(sqlite3_stmt *stmt, int i)
{
	return query_known(rows_time(stmt, i));
}

static int take_stage(sqlite3_stmt *stmt, void *item)
{
	struct stage_row *row = item;
	struct stage_work *stage = &row->stage;
	char kind[16];

	stage->id = rows_int(stmt, 0);
	row->parent = rows_int(stmt, 1);
	rows_fill(stmt, 2, REDACT_NOT, kind, sizeof(kind));
	rows_fill(stmt, 3, REDACT_NOT, stage->name, sizeof(stage->name));
	stage->kind = stage_kind_find(kind);
	stage->is_kernel = rows_int(stmt, 4) == 1;
	stage->is_root = rows_int(stmt, 5) == 1;
	stage->is_autotuned = rows_int(stmt, 6) == 1;
	stage->parallel = rows_small(stmt, 7);
	stage->capacity = rows_small(stmt, 8);
	stage->threads = rows_small(stmt, 9);
	stage->elements = known(stmt, 10);
	stage->busy_ns = known(stmt, 11);
	stage->own_ns = known(stmt, 12);
	stage->cpu_ns = known(stmt, 13);
	stage->read_ns = known(stmt, 14);
	stage->queue = stage->kind == STAGE_PREFETCH ? known(stmt, 15) / stage->elements : NAN;
	row->span_ns = known(stmt, 16);
	return stage->elements >= 0 && stage->busy_ns >= 0 && stage->own_ns >= 0;
}

int stages_read(struct db *db, int64_t loader_id, bool is_later, struct stages *ret)
{
	struct stage_row *rows = NULL;
	size_t count = 0;
	int r = rows_list(db, is_later ? LATER_STAGES_SQL : STAGES_SQL, loader_id, sizeof(*rows),
			  take_stage, &rows, &count);

	*ret = (struct stages){.span_ns = NAN, .is_later = is_later};
	if (r == 0 && count)
		ret->list = calloc(count, sizeof(*ret->list));
	if (r == 0 && count && !ret->list)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < count; i++) {
		ret->list[i] = rows[i].stage;
		ret->list[i].parent = STAGE_NOWHERE;
		for (size_t k = 0; k < count; k++)
			if (rows[k].stage.id == rows[i].parent)
				ret->list[i].parent = k;
		if (rows[i].stage.is_root && !(rows[i].span_ns < ret->span_ns))
			ret->span_ns = rows[i].span_ns;
		ret->count++;
	}
	free(rows);
	return r;
}

/* A window counts in the part of the loader's time in which it begins. No window is cut. */
static const char BARS_SQL[] =
	"SELECT stage_id, MIN(MIN(begin_ns)) OVER o, MAX(MAX(begin_ns + window_ns)) OVER o,"
	" SUM(busy_ns) * 1.0 / MAX(SUM(window_ns)) OVER o,"
	" SUM(own_ns) * 1.0 / MAX(SUM(window_ns)) OVER o FROM ("
	"  SELECT *, (begin_ns - MIN(begin_ns) OVER ()) * 156"
	"  / (1 + MAX(begin_ns) OVER () - MIN(begin_ns) OVER ()) AS part"
	"  FROM t_stage_sum WHERE loader_id = ?1 AND window_ns > 0)"
	" GROUP BY stage_id, part WINDOW o AS (PARTITION BY part) ORDER BY part LIMIT 100000";

static int take_bar(sqlite3_stmt *stmt, void *item)
{
	*(struct stage_bar *)item = (struct stage_bar){
		rows_int(stmt, 0), sqlite3_column_double(stmt, 1), sqlite3_column_double(stmt, 2),
		sqlite3_column_double(stmt, 3), sqlite3_column_double(stmt, 4)};
	return 1;
}

int stage_bars_read(struct db *db, int64_t loader_id, struct stage_bar **ret, size_t *ret_count)
{
	return rows_list(db, BARS_SQL, loader_id, sizeof(**ret), take_bar, ret, ret_count);
}
