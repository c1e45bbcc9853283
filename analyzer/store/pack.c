/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pack.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "store/gpu.h"

#define MAGIC     UINT32_C(0x31637064) /* as this machine writes it: another one's is no pack */
#define PART      ((size_t)1 << 16)
#define MOST_RUNS PART

static const char MAKE_SQL[] =
	"CREATE TABLE IF NOT EXISTS t_pack (loader_id INTEGER NOT NULL, part INTEGER NOT NULL,"
	" data BLOB NOT NULL, PRIMARY KEY (loader_id, part));"
	"CREATE TRIGGER IF NOT EXISTS t_pack_insert AFTER INSERT ON t_batch BEGIN"
	" DELETE FROM t_pack WHERE loader_id = NEW.loader_id; END;"
	"CREATE TRIGGER IF NOT EXISTS t_pack_update AFTER UPDATE ON t_batch BEGIN"
	" DELETE FROM t_pack WHERE loader_id IN (NEW.loader_id, OLD.loader_id); END;"
	"CREATE TRIGGER IF NOT EXISTS t_pack_delete AFTER DELETE ON t_batch BEGIN"
	" DELETE FROM t_pack WHERE loader_id = OLD.loader_id; END;"
	"CREATE TRIGGER IF NOT EXISTS t_pack_gpu_insert AFTER INSERT ON t_gpu_step BEGIN"
	" DELETE FROM t_pack WHERE loader_id = NEW.loader_id; END;"
	"CREATE TRIGGER IF NOT EXISTS t_pack_gpu_update AFTER UPDATE ON t_gpu_step BEGIN"
	" DELETE FROM t_pack WHERE loader_id IN (NEW.loader_id, OLD.loader_id); END;"
	"CREATE TRIGGER IF NOT EXISTS t_pack_gpu_delete AFTER DELETE ON t_gpu_step BEGIN"
	" DELETE FROM t_pack WHERE loader_id = OLD.loader_id; END;"
	"DELETE FROM t_pack;";

static const char INSERT_SQL[] = "INSERT INTO t_pack (loader_id, part, data) VALUES (?1, ?2, ?3)";
static const char READ_SQL[] = "SELECT data FROM t_pack WHERE loader_id = ?1 AND part = ?2";

/* Part 0. */
struct head {
	uint32_t magic;
	uint32_t size; /* of this struct */
	int64_t batch_count, epoch_count, time_ns;
	int64_t load_cpu_count;
	double load_cpu_ns;
	int64_t first_ns, last_ns, tail_begin_ns; /* of the series */
	double elsewhere_ns;
	struct load_totals totals;
	struct gpu_sums gpu;
};

/* Before the arrays of the other parts. */
struct part_head {
	uint32_t magic;
	uint32_t count;
	uint32_t columns; /* bits: which times are there */
	uint32_t run_count;
};

struct packed_run {
	uint32_t begin;
	int32_t epoch, batch;
};

static const char UNPACKED_SQL[] =
	"WITH RECURSIVE loader(id) AS (SELECT MIN(loader_id) FROM t_batch UNION ALL"
	"  SELECT (SELECT MIN(b.loader_id) FROM t_batch b WHERE b.loader_id > loader.id)"
	"  FROM loader WHERE loader.id IS NOT NULL)"
	"SELECT COUNT(*) FROM loader WHERE id IS NOT NULL"
	" AND id NOT IN (SELECT loader_id FROM t_pack WHERE part = 0)";
static const char HEADS_SQL[] = "SELECT loader_id FROM t_pack WHERE part = 0";

static int insert(sqlite3_stmt *stmt, int64_t loader_id, int64_t part, const void *data,
		  size_t size)
{
	int r;

	sqlite3_bind_int64(stmt, 1, loader_id);
	sqlite3_bind_int64(stmt, 2, part);
	r = sqlite3_bind_blob64(stmt, 3, data, size, SQLITE_STATIC);
	if (r == SQLITE_OK)
		r = sqlite3_step(stmt);
	sqlite3_reset(stmt);
	return db_errno(r);
}

static size_t part_size(const struct part_head *head)
{
	size_t columns = (size_t)__builtin_popcount(head->columns);

	return sizeof(*head) + head->run_count * sizeof(struct packed_run) +
	       head->count * (columns * sizeof(float) + sizeof(int16_t) + 1);
}

static void put(char **to, const void *from, size_t size)
{
	memcpy(*to, from, size);
	*to += size;
}

static int insert_part(sqlite3_stmt *stmt, int64_t loader_id, int64_t number,
		       const struct series_part *part)
{
	struct part_head head = {MAGIC, (uint32_t)part->count, 0, (uint32_t)part->run_count};
	char *data, *to;
	size_t i;
	int r;

	for (i = 0; i < SERIES_TIMES; i++)
		head.columns |= part->times[i] ? 1u << i : 0;
	to = data = malloc(part_size(&head));
	if (!data)
		return -ENOMEM;
	put(&to, &head, sizeof(head));
	for (i = 0; i < part->run_count; i++)
		put(&to,
		    &(struct packed_run){(uint32_t)part->runs[i].begin, part->runs[i].epoch,
					 part->runs[i].batch},
		    sizeof(struct packed_run));
	for (i = 0; i < SERIES_TIMES; i++)
		if (part->times[i])
			put(&to, part->times[i], part->count * sizeof(float));
	put(&to, part->worker, part->count * sizeof(*part->worker));
	put(&to, part->state, part->count);
	r = insert(stmt, loader_id, number, data, part_size(&head));
	free(data);
	return r;
}

static int write_series(sqlite3_stmt *stmt, const struct loader_info *loader,
			const struct batch_series *series)
{
	struct series_run *runs = malloc((series->run_count + 1) * sizeof(*runs));
	struct series_part part;
	size_t begin;
	int64_t number = 1;
	int r = runs ? 0 : -ENOMEM;

	for (begin = 0; r == 0 && begin < series->count; begin += PART) {
		size_t count = series->count - begin < PART ? series->count - begin : PART;

		series_cut(series, begin, count, runs, &part);
		r = insert_part(stmt, loader->loader_id, number++, &part);
	}
	free(runs);
	return r;
}

static int write_loader(struct db *db, sqlite3_stmt *stmt, const struct loader_info *loader)
{
	const struct batch_filter all = {
		.loader_id = loader->loader_id, .epoch = -1, .first = -1, .last = -1};
	struct head head = {
		.magic = MAGIC,
		.size = sizeof(head),
		.batch_count = loader->batch_count,
		.epoch_count = loader->epoch_count,
		.time_ns = loader->time_ns,
	};
	struct batch_series series;
	int r;

	series_init(&series);
	r = batch_totals(db, &all, &head.totals);
	if (r == 0)
		r = query_series(db, &all, &series);
	if (r == 0)
		r = gpu_sums_count(db, &all, series.gpu_busy_ns, &head.gpu);
	head.load_cpu_count = (int64_t)series.load_cpu_count;
	head.load_cpu_ns = series.load_cpu_ns;
	head.first_ns = series.first_ns;
	head.last_ns = series.last_ns;
	head.tail_begin_ns = series.tail_begin_ns;
	head.elsewhere_ns = series.elsewhere_ns;
	if (r == 0)
		r = write_series(stmt, loader, &series);
	/* Last: without it there is no pack. */
	if (r == 0)
		r = insert(stmt, loader->loader_id, 0, &head, sizeof(head));
	series_done(&series);
	return r;
}

int pack_write(struct db *db)
{
	struct loader_info *loaders = NULL;
	sqlite3_stmt *stmt = NULL;
	size_t count = 0, i;
	bool is_long = false;
	int r = query_loaders(db, &loaders, &count);

	for (i = 0; r == 0 && i < count; i++)
		is_long |= loaders[i].batch_count >= PACK_LEAST;
	if (r < 0 || !is_long) {
		free(loaders);
		return r;
	}
	r = db_errno(sqlite3_exec(db_handle(db), MAKE_SQL, NULL, NULL, NULL));
	if (r == 0)
		r = db_errno(sqlite3_prepare_v2(db_handle(db), INSERT_SQL, -1, &stmt, NULL));
	for (i = 0; r == 0 && i < count; i++)
		r = write_loader(db, stmt, &loaders[i]);
	sqlite3_finalize(stmt);
	free(loaders);
	return r;
}

/* A statement on the part; the caller finalizes it. -ENOENT: there is none. */
static int find_part(sqlite3_stmt *stmt, int64_t loader_id, int64_t number, const void **ret_data,
		     size_t *ret_size)
{
	int r;

	sqlite3_reset(stmt);
	sqlite3_bind_int64(stmt, 1, loader_id);
	sqlite3_bind_int64(stmt, 2, number);
	r = sqlite3_step(stmt);
	if (r != SQLITE_ROW)
		return r == SQLITE_DONE ? -ENOENT : db_errno(r);
	*ret_data = sqlite3_column_blob(stmt, 0);
	*ret_size = (size_t)sqlite3_column_bytes(stmt, 0);
	return *ret_data ? 0 : -ENOENT;
}

/* Without the table there are no packs. */
static int prepare(struct db *db, sqlite3_stmt **ret_stmt)
{
	return sqlite3_prepare_v2(db_handle(db), READ_SQL, -1, ret_stmt, NULL) == SQLITE_OK
		       ? 0
		       : -ENOENT;
}

static int read_head(sqlite3_stmt *stmt, int64_t loader_id, struct head *ret)
{
	const void *data;
	size_t size;
	int r = find_part(stmt, loader_id, 0, &data, &size);

	if (r < 0)
		return r;
	if (size != sizeof(*ret))
		return -ENOENT;
	memcpy(ret, data, size);
	return ret->magic == MAGIC && ret->size == size && ret->batch_count >= 0 ? 0 : -ENOENT;
}

static int read_loader_head(struct db *db, int64_t loader_id, struct head *ret)
{
	sqlite3_stmt *stmt = NULL;
	int r = prepare(db, &stmt);

	if (r == 0)
		r = read_head(stmt, loader_id, ret);
	sqlite3_finalize(stmt);
	return r;
}

/* Nothing in a file is believed: sizes, and that runs follow each other from the first batch on. */
static int add_part(struct batch_series *series, const void *blob, size_t size)
{
	struct series_part part = {0};
	char *copy, *data;
	struct series_run *runs;
	struct part_head head;
	struct packed_run run;
	size_t i;
	int r = 0;

	if (size < sizeof(head))
		return -ENOENT;
	memcpy(&head, blob, sizeof(head));
	if (head.magic != MAGIC || !head.count || head.count > PART || !head.run_count ||
	    head.run_count > MOST_RUNS || head.columns >> SERIES_TIMES || part_size(&head) != size)
		return -ENOENT;
	/* A copy, because a blob may lie anywhere, and floats may not. */
	copy = malloc(size);
	runs = malloc(head.run_count * sizeof(*runs));
	if (!copy || !runs) {
		free(copy);
		free(runs);
		return -ENOMEM;
	}
	memcpy(copy, blob, size);
	data = copy + sizeof(head);
	for (i = 0; r == 0 && i < head.run_count; i++, data += sizeof(run)) {
		memcpy(&run, data, sizeof(run));
		runs[i] = (struct series_run){run.begin, run.epoch, run.batch};
		if (i ? run.begin <= runs[i - 1].begin || run.begin >= head.count : run.begin != 0)
			r = -ENOENT;
	}
	/* The head and the runs are multiples of 4 bytes, as floats want. */
	part.count = head.count;
	part.runs = runs;
	part.run_count = head.run_count;
	for (i = 0; i < SERIES_TIMES; i++) {
		if (!(head.columns & 1u << i))
			continue;
		part.times[i] = (const float *)(const void *)data;
		data += head.count * sizeof(float);
	}
	part.worker = (const int16_t *)(const void *)data;
	part.state = (const uint8_t *)(const void *)data + head.count * sizeof(int16_t);
	if (r == 0)
		r = series_extend(series, &part);
	free(runs);
	free(copy);
	return r;
}

int pack_read_series(struct db *db, int64_t loader_id, struct batch_series *series)
{
	struct batch_series packed = *series;
	sqlite3_stmt *stmt = NULL;
	struct head head;
	const void *data;
	int64_t number;
	size_t size;
	int r = series->count ? -ENOENT : prepare(db, &stmt);

	if (r == 0)
		r = read_head(stmt, loader_id, &head);
	for (number = 1; r == 0 && packed.count < (uint64_t)head.batch_count; number++) {
		r = find_part(stmt, loader_id, number, &data, &size);
		if (r == 0)
			r = add_part(&packed, data, size);
	}
	if (r == 0 && packed.count != (uint64_t)head.batch_count)
		r = -ENOENT;
	sqlite3_finalize(stmt);
	if (r < 0) {
		packed.epochs = NULL; /* they are the caller's */
		series_done(&packed);
		return r;
	}
	packed.load_cpu_count = head.load_cpu_count > 0 ? (size_t)head.load_cpu_count : 0;
	packed.load_cpu_ns = head.load_cpu_ns >= 0 ? head.load_cpu_ns : 0;
	packed.first_ns = head.first_ns >= 0 ? head.first_ns : SERIES_UNKNOWN;
	packed.last_ns = head.last_ns >= 0 ? head.last_ns : SERIES_UNKNOWN;
	packed.tail_begin_ns = head.tail_begin_ns >= 0 ? head.tail_begin_ns : SERIES_UNKNOWN;
	packed.elsewhere_ns = head.elsewhere_ns >= 0 ? head.elsewhere_ns : 0;
	*series = packed;
	return 0;
}

int pack_read_totals(struct db *db, int64_t loader_id, struct load_totals *ret_totals)
{
	struct head head;
	size_t i;
	int r = read_loader_head(db, loader_id, &head);

	if (r < 0)
		return r;
	*ret_totals = head.totals;
	for (i = 0; i < sizeof(*ret_totals) / sizeof(int64_t); i++) {
		int64_t *value = (int64_t *)ret_totals + i;

		if (*value < 0)
			*value = QUERY_UNKNOWN;
	}
	return 0;
}

int pack_read_gpu(struct db *db, int64_t loader_id, struct gpu_sums *ret_sums)
{
	struct head head;
	int r = read_loader_head(db, loader_id, &head);

	if (r < 0)
		return r;
	*ret_sums = head.gpu;
	gpu_sums_check(ret_sums);
	return 0;
}

int pack_read_loader(struct db *db, struct loader_info *loader)
{
	struct head head;
	int r = read_loader_head(db, loader->loader_id, &head);

	if (r < 0)
		return r;
	loader->batch_count = head.batch_count;
	loader->epoch_count = head.epoch_count;
	loader->time_ns = head.time_ns;
	return 0;
}

/* Whether there are packs and no loader is without one. */
static bool is_all_packed(struct db *db)
{
	sqlite3_stmt *stmt = NULL;
	bool all = false;

	if (sqlite3_prepare_v2(db_handle(db), UNPACKED_SQL, -1, &stmt, NULL) == SQLITE_OK)
		all = sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_int64(stmt, 0) == 0;
	sqlite3_finalize(stmt);
	return all;
}

int pack_sum_totals(struct db *db, struct load_totals *ret_totals)
{
	sqlite3_stmt *stmt = NULL;
	struct load_totals one;
	size_t i;
	int r = 0, count = 0;

	memset(ret_totals, 0, sizeof(*ret_totals));
	if (!is_all_packed(db) ||
	    sqlite3_prepare_v2(db_handle(db), HEADS_SQL, -1, &stmt, NULL) != SQLITE_OK)
		return -ENOENT;
	while (r == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
		r = pack_read_totals(db, sqlite3_column_int64(stmt, 0), &one);
		for (i = 0; r == 0 && i < sizeof(one) / sizeof(int64_t); i++) {
			int64_t *sum = (int64_t *)ret_totals + i, value = ((int64_t *)&one)[i];

			if (value > 0 && __builtin_add_overflow(*sum, value, sum))
				*sum = INT64_MAX;
		}
		count++;
	}
	sqlite3_finalize(stmt);
	return r == 0 && count ? 0 : -ENOENT;
}
