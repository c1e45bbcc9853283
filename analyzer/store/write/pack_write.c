/* SPDX-License-Identifier: Apache-2.0 */
#include "store/write/pack_write.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/account/stall.h"
#include "store/database/handle.h"
#include "store/run/batch.h"
#include "store/run/gpu.h"
#include "store/run/pack.h"
#include "store/run/query.h"

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

static void put(char **to, const void *from, size_t size)
{
	memcpy(*to, from, size);
	*to += size;
}

static int insert_part(sqlite3_stmt *stmt, int64_t loader_id, int64_t number,
		       const struct series_part *part)
{
	struct pack_part head = {PACK_MAGIC, (uint32_t)part->count, 0, (uint32_t)part->run_count};
	char *data, *to;
	int r;

	for (size_t i = 0; i < SERIES_TIMES; i++)
		head.columns |= part->times[i] ? 1u << i : 0;
	to = data = malloc(pack_part_size(&head));
	if (!data)
		return -ENOMEM;
	put(&to, &head, sizeof(head));
	for (size_t i = 0; i < part->run_count; i++)
		put(&to,
		    &(struct pack_run){(uint32_t)part->runs[i].begin, part->runs[i].epoch,
					 part->runs[i].batch},
		    sizeof(struct pack_run));
	for (size_t i = 0; i < SERIES_TIMES; i++)
		if (part->times[i])
			put(&to, part->times[i], part->count * sizeof(float));
	put(&to, part->worker, part->count * sizeof(*part->worker));
	put(&to, part->state, part->count);
	r = insert(stmt, loader_id, number, data, pack_part_size(&head));
	free(data);
	return r;
}

static int write_series(sqlite3_stmt *stmt, const struct loader_info *loader,
			const struct batch_series *series)
{
	struct series_run *runs = malloc((series->run_count + 1) * sizeof(*runs));
	struct series_part part;
	int64_t number = 1;
	int r = runs ? 0 : -ENOMEM;

	for (size_t begin = 0; r == 0 && begin < series->count; begin += PACK_PART) {
		size_t rest = series->count - begin, count = rest < PACK_PART ? rest : PACK_PART;

		series_cut(series, begin, count, runs, &part);
		r = insert_part(stmt, loader->loader_id, number++, &part);
	}
	free(runs);
	return r;
}

static int write_pack(struct db *db, sqlite3_stmt *stmt, const struct loader_info *loader,
		      const struct batch_series *series)
{
	const struct batch_filter all = batch_filter_all(loader->loader_id);
	struct pack_head head = {
		.magic = PACK_MAGIC,
		.size = sizeof(head),
		.batch_count = loader->batch_count,
		.epoch_count = loader->epoch_count,
		.time_ns = loader->time_ns,
		.load_cpu_count = (int64_t)series->load_cpu_count,
		.load_cpu_ns = series->load_cpu_ns,
		.first_ns = series->first_ns,
		.last_ns = series->last_ns,
		.tail_begin_ns = series->tail_begin_ns,
		.elsewhere_ns = series->elsewhere_ns,
		.fetches = series->fetches,
	};
	int r = batch_totals(db, &all, &head.totals);

	if (r == 0)
		r = gpu_sums_count(db, &all, series->gpu_busy_ns, &head.gpu);
	if (r == 0)
		r = write_series(stmt, loader, series);
	/* The head is written last: without it, readers ignore a pack. */
	return r < 0 ? r : insert(stmt, loader->loader_id, 0, &head, sizeof(head));
}

/* Writes a loader's theta and, unless `stmt` is NULL, its pack. */
static int write_loader(struct db *db, struct writer *writer, sqlite3_stmt *stmt,
			const struct loader_info *loader)
{
	const struct batch_filter all = batch_filter_all(loader->loader_id);
	struct batch_series series;
	int r;

	series_init(&series);
	r = query_series(db, &all, &series);
	if (r == 0 && stmt)
		r = write_pack(db, stmt, loader, &series);
	/* Views find starved batches by this theta. Readers of a pack compute it again. */
	if (r == 0 && series.count)
		r = writer_theta(writer, loader->loader_id, stall_theta_ns(&series));
	series_done(&series);
	return r;
}

int pack_write(struct db *db, struct writer *writer)
{
	struct loader_info *loaders;
	sqlite3_stmt *stmt = NULL;
	bool is_long = false;
	size_t count, i;
	int r = query_loaders(db, &loaders, &count);

	if (r < 0)
		return r;
	for (i = 0; i < count; i++)
		is_long |= loaders[i].batch_count >= PACK_LEAST;
	if (is_long)
		r = db_errno(sqlite3_exec(db->handle, MAKE_SQL, NULL, NULL, NULL));
	if (r == 0 && is_long)
		r = db_errno(sqlite3_prepare_v2(db->handle, INSERT_SQL, -1, &stmt, NULL));
	for (i = 0; r == 0 && i < count; i++)
		r = write_loader(db, writer, stmt, &loaders[i]);
	sqlite3_finalize(stmt);
	free(loaders);
	return r;
}
