/* SPDX-License-Identifier: Apache-2.0 */
#include "store/run/facts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dlprof/units.h"
#include "store/database/rows.h"
#include "store/run/batch.h"
#include "store/run/tally.h"

#define SINCE_VERSION 10
#define MOST_TALLIES  256
#define SPREAD_FEWEST 16
#define SPREAD_ALIKE  0.9 /* images are compared if this share of batches is equally large */
#define FILE_SMALL    0.1 /* files of which less than this part of the mean is read are small */
#define FILES_MOST    0.8
#define FAULT_MOST_NS 1e8 /* most that a page fault may wait for storage */

static const char *const kind_names[LOAD_WAIT_MAX] = {
#define WAIT_KIND(id, name, meaning) [LOAD_WAIT_##id] = name,
#include "dlprof/wait_kinds.def"
#undef WAIT_KIND
};

static const char MADE_SQL[] = "SELECT loader_id, AVG(tensor_count), AVG(batch_bytes),"
				" AVG(object_count) FROM t_made"
			       " GROUP BY loader_id";

/* Images for each sample (mean, mean square) in 4096 loads; share of batches near the largest. */
static const char SPREAD_SQL[] =
	"WITH most AS (SELECT MAX(batch_bytes) AS bytes FROM t_made WHERE loader_id = ?1),"
	" one AS (SELECT samples, decode_count * 1.0 / samples AS images FROM t_batch"
	"  WHERE loader_id = ?1 AND decode_count > 0 AND samples > 0 LIMIT 4096)"
	"SELECT COUNT(*), AVG(images), AVG(images * images), AVG(samples),"
	" (SELECT AVG(batch_bytes >= 0.99 * bytes) FROM t_made, most WHERE loader_id = ?1)"
	" FROM one";

static const char LOADED_SQL[] = ROWS_LOADERS "SELECT loader_id FROM part WHERE loader_id NOT NULL";

/* What the workers of all epochs used or, without workers, what the main process used. */
static const char USE_SQL[] =
	"WITH role AS (SELECT CASE WHEN EXISTS (SELECT 1 FROM t_process WHERE role = 'worker')"
	"  THEN 'worker' ELSE 'main' END AS role),"
	" used AS (SELECT u.*, worker_id FROM t_use u JOIN t_process USING (pid, start_ticks)"
	"  JOIN role USING (role)),"
	" one AS (SELECT MAX(swapped_bytes) AS swapped FROM used GROUP BY worker_id)"
	"SELECT AVG(runnable_milli) / 1000.0, MIN(cores_allowed),"
	" AVG(CASE WHEN private_end_bytes NOT NULL THEN private_begin_bytes END),"
	" AVG(private_end_bytes), SUM(major_faults * 1.0), (SELECT SUM(swapped * 1.0) FROM one),"
	" (SELECT role = 'worker' FROM role)"
	" FROM used";

static const char ASKER_SQL[] =
	"SELECT IFNULL((SELECT pid FROM t_loader WHERE loader_id = ?1),"
	"  (SELECT CAST(value AS INTEGER) FROM t_meta WHERE key = 'pid')),"
	" (SELECT MAX(tid) FROM t_epoch e WHERE loader_id = ?1 AND epoch ="
	"  (SELECT MIN(epoch) FROM t_epoch f WHERE f.loader_id = e.loader_id))";

static const char THREADS_SQL[] = "SELECT tid, cpu_ns, name FROM t_thread WHERE pid = ?1"
				  " AND cpu_ns > 0 ORDER BY cpu_ns DESC, tid LIMIT 64";

const char *load_wait_name(enum load_wait_kind kind)
{
	return kind_names[kind];
}

/* Returns a column's number, or NAN if it is negative or no number. */
static double known(sqlite3_stmt *stmt, int column)
{
	const int type = sqlite3_column_type(stmt, column);
	double value = NAN;

	if (type == SQLITE_INTEGER || type == SQLITE_FLOAT)
		value = sqlite3_column_double(stmt, column);
	return value >= 0 ? value : NAN;
}

static enum load_wait_kind kind_of(const char *name)
{
	for (int kind = 0; kind < LOAD_WAIT_OTHER; kind++)
		if (strcmp(kind_names[kind], name) == 0)
			return (enum load_wait_kind)kind;
	return LOAD_WAIT_OTHER;
}

#define EXCESS_LEAST 0.1 /* a smaller share of the loads may be an error of measurement */

/* Limits the time of page faults, which may include time in which loads only waited for a core. */
static void bound_faults(struct load_facts *ret)
{
	double *ns = &ret->wait_ns[LOAD_WAIT_FAULT];

	*ns = fmin(fmax(*ns - fmax(ret->no_core_ns, 0), 0), ret->faults * FAULT_MOST_NS);
}

static void add_faults(const struct tally *tally, struct load_facts *ret)
{
	snprintf(ret->mapped, sizeof(ret->mapped), "%.*s", LOAD_FACTS_PEER - 1,
		 ret->faults > 0 && strcmp(ret->mapped, tally->name) != 0 ? "" : tally->name);
	ret->faults += (double)tally->count;
}

static bool is_blocked(enum load_wait_kind kind)
{
	return kind != LOAD_WAIT_FAULT;
}

static bool is_transfer(enum load_wait_kind kind)
{
	return kind == LOAD_WAIT_SOCKET || kind == LOAD_WAIT_PIPE || kind == LOAD_WAIT_WRITE;
}

static double sum_waits(const struct load_facts *facts, bool (*is_meant)(enum load_wait_kind))
{
	double ns = 0;

	for (int kind = 0; kind < LOAD_WAIT_MAX; kind++)
		ns += is_meant(kind) ? facts->wait_ns[kind] : 0;
	return ns;
}

static void scale_waits(double part, bool (*is_meant)(enum load_wait_kind),
			struct load_facts *facts)
{
	for (int kind = 0; kind < LOAD_WAIT_MAX; kind++)
		facts->wait_ns[kind] *= is_meant(kind) ? part : 1;
	for (size_t i = 0; i < facts->peer_count; i++)
		facts->peers[i].ns *= is_meant(facts->peers[i].kind) ? part : 1;
}

/*
 * Takes the waits of loads that raised an exception out of the tallies. Each kind of wait is scaled
 * so that their sum is `blocked_ns`: the waits (no page faults) of the loads that made a batch.
 */
static void leave_out_failed(double blocked_ns, struct load_facts *facts)
{
	const double all_ns = sum_waits(facts, is_blocked);

	if (all_ns > blocked_ns)
		scale_waits(blocked_ns / all_ns, is_blocked, facts);
}

/*
 * The time of reads and writes of pipes and sockets includes their CPU time, which is most of it if
 * they are many and short. Takes out by how much waits and CPU time exceed the loads: `excess_ns`.
 */
static void leave_out_cpu(double excess_ns, struct load_facts *facts)
{
	const double all_ns = sum_waits(facts, is_transfer);

	if (!(all_ns > 0) || !(excess_ns >= EXCESS_LEAST * facts->load_ns))
		return;
	facts->calls_ns = fmin(excess_ns, all_ns);
	scale_waits(1 - facts->calls_ns / all_ns, is_transfer, facts);
}

static int read_waits(struct db *db, double blocked_ns, struct load_facts *ret)
{
	struct tally_list list;
	int r = tally_list_read(db, "wait", MOST_TALLIES, &list);

	for (int kind = 0; kind < LOAD_WAIT_MAX; kind++)
		ret->wait_ns[kind] = 0;
	for (size_t i = 0; r == 0 && i < list.count; i++) {
		const struct tally *tally = &list.items[i];
		const enum load_wait_kind kind = kind_of(tally->detail);
		struct load_peer *peer = &ret->peers[ret->peer_count];

		ret->wait_ns[kind] += (double)tally->ns;
		ret->wait_bytes[kind] += (double)tally->bytes;
		if (kind == LOAD_WAIT_FAULT) {
			add_faults(tally, ret);
			continue;
		}
		if (!tally->name[0] || ret->peer_count == LOAD_FACTS_MOST)
			continue;
		*peer = (struct load_peer){
			.kind = kind,
			.ns = (double)tally->ns,
			.bytes = (double)tally->bytes,
			.count = (double)tally->count,
		};
		snprintf(peer->name, sizeof(peer->name), "%.*s", LOAD_FACTS_PEER - 1, tally->name);
		ret->peer_count++;
	}
	bound_faults(ret);
	tally_list_done(&list);
	leave_out_failed(blocked_ns, ret);
	return r;
}

/* Returns how long loads waited for a core: their CPU time x (threads' waiting / running time). */
static double no_core(const struct run_info *run, bool by_workers, double cpu_ns, double rest_ns)
{
	const double ran_ns = query_known(by_workers ? run->workers_ran_ns : run->main_ran_ns);
	const double waited_ns =
		query_known(by_workers ? run->workers_waited_ns : run->main_waited_ns);

	if (!(ran_ns > 0) || isnan(waited_ns) || isnan(cpu_ns) || isnan(rest_ns))
		return NAN;
	return fmax(fmin(cpu_ns * waited_ns / ran_ns, rest_ns), 0);
}

static int read_use(struct db *db, bool *ret_workers, struct load_facts *ret)
{
	ROWS *stmt = NULL;
	int r = rows_first(db, &stmt, USE_SQL, "");

	if (r < 1)
		return r;
	ret->runnable_threads = known(stmt, 0);
	ret->cores_allowed = known(stmt, 1);
	ret->private_begin_bytes = known(stmt, 2);
	ret->private_end_bytes = known(stmt, 3);
	ret->major_faults = known(stmt, 4);
	ret->swapped_bytes = known(stmt, 5);
	*ret_workers = sqlite3_column_int(stmt, 6) == 1;
	return 0;
}

static int read_loads(struct db *db, const struct run_info *run, const struct load_totals *loads,
		      bool by_workers, struct load_facts *ret)
{
	/* An imported run has no processes, and the waits of its loads were not observed. */
	const bool is_recorded = rows_any(db, "SELECT 1 FROM t_process LIMIT 1");
	const double cpu_ns = query_known(loads->cpu_ns);
	const double blocked_ns = query_known(loads->blocked_ns);
	int r;

	ret->load_ns = query_known(loads->load_ns);
	if (!is_recorded || !(ret->load_ns > 0))
		return 0;
	ret->no_core_ns = no_core(run, by_workers, cpu_ns, ret->load_ns - cpu_ns - blocked_ns);
	if (isnan(blocked_ns) || run->schema < SINCE_VERSION)
		return 0;
	r = read_waits(db, blocked_ns, ret);
	leave_out_cpu(cpu_ns + blocked_ns - ret->load_ns, ret);
	return r;
}

/* Returns true for a torchvision transform whose output depends on its input alone. */
static bool is_fixed(const char *name)
{
	static const char *const names[] = {
		"CenterCrop", "ConvertImageDtype", "Grayscale",  "Normalize",
		"PILToTensor", "Pad",              "Resize",     "ToDtype",
		"ToImage",     "ToPILImage",       "ToPureTensor", "ToTensor",
	};

	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static int read_fixed(struct db *db, struct load_facts *ret)
{
	struct tally_list list;
	double ns = 0;
	int r = tally_list_read(db, "step", MOST_TALLIES, &list);

	for (size_t i = 0; r == 0 && i < list.count; i++)
		if (strcmp(list.items[i].detail, "transform") == 0)
			ns += is_fixed(list.items[i].name) ? (double)list.items[i].ns : NAN;
	ret->fixed_ns = ns > 0 ? ns : NAN;
	tally_list_done(&list);
	return r;
}

struct decoded {
	double inflated_bytes, pixels, images, ns;
	bool is_video;
};

/* Sums pixels and images. Formats without a width class are no images: their `pixels` are bytes. */
static int read_decoded(struct db *db, struct decoded *ret)
{
	struct tally_list list;
	int r = tally_list_read(db, "decode", MOST_TALLIES, &list);

	*ret = (struct decoded){0};
	for (size_t i = 0; r == 0 && i < list.count; i++) {
		const struct tally *tally = &list.items[i];

		ret->ns += (double)tally->ns;
		if (!tally->class) {
			ret->inflated_bytes += (double)tally->pixels;
			continue;
		}
		ret->pixels += (double)tally->pixels;
		ret->images += tally->pixels > 0 ? (double)tally->count : 0;
		ret->is_video |= strcmp(tally->detail, "video") == 0;
	}
	tally_list_done(&list);
	return r;
}

/* Notes bytes read and files opened. Reads of mapped files are only seen as bytes from storage. */
static void note_reads(const struct load_totals *totals, struct load_facts *ret)
{
	const double handed_out = ret->batch_bytes * query_known(totals->load_count);
	const double read = fmax(query_known(totals->read_bytes),
				 query_known(totals->storage_bytes));

	if (handed_out > 0)
		ret->read_per_byte = read / handed_out;
	if (totals->samples > 0)
		ret->opens_per_sample =
			query_known(totals->open_count) / (double)totals->samples;
}

/* Sums the bytes of the batches of all loaders; NAN if a loader's are unknown. */
static int sum_bytes(struct db *db, const double *bytes, const int64_t *ids, size_t count,
		     double *ret_bytes)
{
	struct load_totals totals;
	ROWS *stmt = NULL;
	int r = rows_prepare(db, LOADED_SQL, &stmt);

	*ret_bytes = 0;
	while (r >= 0 && (r = rows_next(stmt)) == 1) {
		const int64_t loader_id = rows_int(stmt, 0);
		const struct batch_filter all = batch_filter_all(loader_id);
		size_t i = 0;

		r = batch_totals(db, &all, &totals);
		if (r < 0 || totals.load_count < 1)
			continue;
		while (i < count && ids[i] != loader_id)
			i++;
		*ret_bytes += i < count ? bytes[i] * (double)totals.load_count : NAN;
	}
	return r;
}

/* Describes the files that were read, except small files, such as a vocabulary. */
static void note_files(const struct tally_list *list, double bytes, struct load_facts *ret)
{
	double most_bytes = 0, opens = 0;

	ret->files.fewest_opens = INFINITY;
	for (size_t i = 0; i < list->count; i++) {
		const struct tally *file = &list->items[i];

		if ((double)file->bytes < FILE_SMALL * bytes / (double)list->count)
			continue;
		ret->files.count++;
		ret->files.fewest_opens = fmin(ret->files.fewest_opens, (double)file->count);
		ret->files.most_opens = fmax(ret->files.most_opens, (double)file->count);
		most_bytes += (double)file->bytes;
		opens += (double)file->count;
	}
	ret->files.bytes = most_bytes / opens;
	if (!(most_bytes >= FILES_MOST * bytes) || list->all_count > list->count)
		ret->files.count = 0;
}

/* Reads how often files were opened, and how often a sample opened the file opened most. */
static int read_files(struct db *db, double samples, struct load_facts *ret)
{
	struct tally_list list;
	double bytes = 0, opens = 0;
	int r = tally_list_read(db, "file", MOST_TALLIES, &list);

	for (size_t i = 0; r == 0 && i < list.count; i++) {
		const double each = (double)list.items[i].count / samples;

		ret->reopens_per_sample = fmax(ret->reopens_per_sample, each);
		opens += each >= LOAD_FACTS_REOPENED ? each : 0;
		bytes += (double)list.items[i].bytes;
	}
	if (r == 0 && list.count)
		ret->reopened_per_sample = opens;
	if (r == 0 && bytes > 0)
		note_files(&list, bytes, ret);
	tally_list_done(&list);
	return r;
}

static int read_spread(struct db *db, int64_t loader_id, struct load_facts *ret)
{
	ROWS *stmt = NULL;
	int r = rows_first(db, &stmt, SPREAD_SQL, "n", loader_id);

	if (r < 1)
		return r;
	if (known(stmt, 0) >= SPREAD_FEWEST && known(stmt, 4) >= SPREAD_ALIKE) {
		const double mean = known(stmt, 1), squares = known(stmt, 2);

		/* One sample varies more than the mean of a load's n samples: sqrt(n) times. */
		ret->images_spread =
			sqrt(fmax(squares / (mean * mean) - 1, 0) * known(stmt, 3));
	}
	return 0;
}

#define WAITS_LEAST 0.5 /* waits within decoders' calls matter from this share of load time on */

/*
 * Counts waits within decoders' calls for threads of their own (zarr's, which asks a server, say):
 * such a call cannot decode for longer than all threads of its process together run.
 */
static void note_waiting_decoders(double decode_ns, double cpu_ns, struct load_facts *ret)
{
	const double runs_ns = fmax(cpu_ns, ret->runnable_threads * ret->load_ns);
	const double faults_ns = fmax(ret->wait_ns[LOAD_WAIT_FAULT], 0);
	const double waits_ns = fmin(decode_ns, ret->load_ns) - runs_ns - faults_ns;

	if (!(ret->runnable_threads >= 0) || !(waits_ns >= WAITS_LEAST * ret->load_ns))
		return;
	ret->decode_wait_ns = waits_ns;
	ret->wait_ns[LOAD_WAIT_THREAD] += waits_ns;
}

#define MOST_LOADERS  64
#define BYTES_A_PIXEL 3

static int read_made(struct db *db, int64_t loader_id, const struct load_totals *loads,
		     struct load_facts *ret)
{
	const double received =
		ret->wait_bytes[LOAD_WAIT_SOCKET] + ret->wait_bytes[LOAD_WAIT_THREAD];
	const struct batch_filter all = batch_filter_all(loader_id);
	double bytes[MOST_LOADERS], handed_out = NAN;
	struct decoded decoded;
	int64_t ids[MOST_LOADERS];
	struct load_totals totals;
	ROWS *stmt = NULL;
	size_t count = 0;
	int r = rows_prepare(db, MADE_SQL, &stmt);

	while (r >= 0 && count < MOST_LOADERS && (r = rows_next(stmt)) == 1) {
		ids[count] = rows_int(stmt, 0);
		bytes[count] = known(stmt, 2);
		if (ids[count] == loader_id) {
			ret->tensors = known(stmt, 1);
			ret->batch_bytes = bytes[count];
			ret->objects = known(stmt, 3);
		}
		count++;
	}
	if (r >= 0)
		r = batch_totals(db, &all, &totals);
	if (r < 0)
		return r;
	note_reads(&totals, ret);
	r = read_decoded(db, &decoded);
	note_waiting_decoders(decoded.ns, query_known(loads->cpu_ns), ret);
	if (r == 0 && (decoded.inflated_bytes > 0 || decoded.pixels > 0 || received > 0))
		r = sum_bytes(db, bytes, ids, count, &handed_out);
	if (decoded.inflated_bytes > 0 && handed_out > 0)
		ret->inflated_per_byte = decoded.inflated_bytes / handed_out;
	if (received > 0 && handed_out > 0)
		ret->received_per_byte = received / handed_out;
	if (decoded.pixels > 0 && handed_out > 0)
		ret->decoded_per_byte = BYTES_A_PIXEL * decoded.pixels / handed_out;
	if (count != 1 || totals.samples < 1)
		return r;
	ret->loads_per_batch = query_known(loads->load_count) / query_known(totals.load_count);
	if (decoded.images > 0) {
		ret->images_per_sample = decoded.images / (double)totals.samples;
		/* Frames decoded for a clip depend on its place in the file: no spread is read. */
		if (!decoded.is_video)
			r = read_spread(db, loader_id, ret);
	}
	return r < 0 ? r : read_files(db, (double)totals.samples, ret);
}

static int read_threads(struct db *db, int64_t loader_id, struct load_facts *ret)
{
	ROWS *asker = NULL, *stmt = NULL;
	int64_t pid, tid;
	int r = rows_first(db, &asker, ASKER_SQL, "n", loader_id);

	if (r < 1)
		return r;
	pid = rows_int(asker, 0);
	tid = rows_time(asker, 1);
	if (tid == UNKNOWN)
		tid = pid;
	r = rows_ask(db, &stmt, THREADS_SQL, "n", pid);
	while (r >= 0 && (r = rows_next(stmt)) == 1) {
		struct load_thread *thread = &ret->threads[ret->thread_count];

		if (rows_int(stmt, 0) == tid) {
			ret->main_cpu_ns = known(stmt, 1);
			continue;
		}
		if (ret->thread_count == LOAD_FACTS_MOST)
			continue;
		thread->cpu_ns = known(stmt, 1);
		rows_fill(stmt, 2, REDACT_OTHER, thread->name, sizeof(thread->name));
		ret->thread_count++;
	}
	return r;
}

/* Returns the mean number of cores used; NAN: not measured. */
static double cores_of(int64_t used_ns, int64_t of_ns)
{
	return of_ns > 0 ? query_known(used_ns) / (double)of_ns : NAN;
}

int load_facts_read(struct db *db, const struct run_info *run, const struct load_totals *loads,
		    const struct batch_filter *filter, struct load_facts *ret)
{
	bool by_workers = false;
	int r;

	*ret = load_facts_unknown();
	ret->helper_cores = cores_of(run->helper_ns, run->main_cpu_of_ns);
	ret->children_cores = cores_of(run->children_ns, run->children_of_ns);
	if (run->world_size > 0)
		ret->ranks = (double)run->world_size;
	/* If there are several ranks, each gets fewer cores than the machine has, on purpose. */
	if (run->start_cores > 0 && run->world_size < 2)
		ret->cores_at_start = (double)run->start_cores;
	r = read_use(db, &by_workers, ret);
	if (r == 0)
		r = read_loads(db, run, loads, by_workers, ret);
	if (r == 0)
		r = read_made(db, filter->loader_id, loads, ret);
	if (r == 0)
		r = read_fixed(db, ret);
	return r < 0 ? r : read_threads(db, filter->loader_id, ret);
}
