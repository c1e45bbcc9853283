/* SPDX-License-Identifier: Apache-2.0 */
#include "store/run/pack.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "store/database/rows.h"

#define TOTALS (sizeof(struct load_totals) / sizeof(int64_t))

static const char READ_SQL[] = "SELECT data FROM t_pack WHERE loader_id = ?1 AND part = ?2";

static const char UNPACKED_SQL[] =
	ROWS_LOADERS "SELECT COUNT(*) FROM part WHERE loader_id IS NOT NULL"
		     " AND loader_id NOT IN (SELECT loader_id FROM t_pack WHERE part = 0)";
static const char HEADS_SQL[] = "SELECT loader_id FROM t_pack WHERE part = 0";

/* Finds a part of a pack. The data are valid as long as *ret_stmt. -ENOENT: there is none. */
static int find_part(struct db *db, int64_t loader_id, int64_t number, sqlite3_stmt **ret_stmt,
		     const void **ret_data, size_t *ret_size)
{
	int r;

	if (rows_ask(db, ret_stmt, READ_SQL, "nn", loader_id, number) < 0)
		return -ENOENT;
	r = rows_next(*ret_stmt);
	if (r < 0)
		return r;
	*ret_data = sqlite3_column_blob(*ret_stmt, 0);
	*ret_size = (size_t)sqlite3_column_bytes(*ret_stmt, 0);
	return *ret_data ? 0 : -ENOENT;
}

int pack_read_head(struct db *db, int64_t loader_id, struct pack_head *ret)
{
	ROWS *stmt = NULL;
	const void *data;
	size_t size;
	int r = find_part(db, loader_id, 0, &stmt, &data, &size);

	if (r < 0)
		return r;
	if (size != sizeof(*ret))
		return -ENOENT;
	memcpy(ret, data, size);
	for (size_t i = 0; i < TOTALS; i++) {
		int64_t *value = (int64_t *)&ret->totals + i;

		if (*value < 0)
			*value = UNKNOWN;
	}
	gpu_sums_check(&ret->gpu);
	return ret->magic == PACK_MAGIC && ret->size == size && ret->batch_count >= 0 ? 0 : -ENOENT;
}

/* Adds a part to the series if its sizes are right and its runs follow those of earlier parts. */
static int add_part(struct batch_series *series, const void *blob, size_t size)
{
	struct series_part part = {0};
	char *copy, *data;
	struct series_run *runs;
	struct pack_part head;
	struct pack_run run;
	int r = 0;

	if (size < sizeof(head))
		return -ENOENT;
	memcpy(&head, blob, sizeof(head));
	if (head.magic != PACK_MAGIC || !head.count || head.count > PACK_PART || !head.run_count ||
	    head.run_count > PACK_RUNS || head.columns >> SERIES_TIMES ||
	    pack_part_size(&head) != size)
		return -ENOENT;
	/* The arrays are copied because floats must be aligned, which a blob may not be. */
	copy = malloc(size);
	runs = malloc(head.run_count * sizeof(*runs));
	if (!copy || !runs) {
		free(copy);
		free(runs);
		return -ENOMEM;
	}
	memcpy(copy, blob, size);
	data = copy + sizeof(head);
	for (size_t i = 0; r == 0 && i < head.run_count; i++, data += sizeof(run)) {
		memcpy(&run, data, sizeof(run));
		runs[i] = (struct series_run){run.begin, run.epoch, run.batch};
		if (i ? run.begin <= runs[i - 1].begin || run.begin >= head.count : run.begin != 0)
			r = -ENOENT;
	}
	/* Floats follow head and runs, which are multiples of 4 bytes, so they are aligned. */
	part.count = head.count;
	part.runs = runs;
	part.run_count = head.run_count;
	for (size_t i = 0; i < SERIES_TIMES; i++) {
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
	struct pack_head head;
	int r = pack_read_head(db, loader_id, &head);

	for (int64_t number = 1; r == 0 && packed.count < (uint64_t)head.batch_count; number++) {
		ROWS *stmt = NULL;
		const void *data;
		size_t size;

		r = find_part(db, loader_id, number, &stmt, &data, &size);
		if (r == 0)
			r = add_part(&packed, data, size);
	}
	if (r == 0 && packed.count != (uint64_t)head.batch_count)
		r = -ENOENT;
	if (r < 0) {
		packed.epochs = NULL; /* the epochs belong to the caller */
		series_done(&packed);
		return r;
	}
	packed.load_cpu_count = head.load_cpu_count > 0 ? (size_t)head.load_cpu_count : 0;
	packed.load_cpu_ns = head.load_cpu_ns >= 0 ? head.load_cpu_ns : 0;
	packed.first_ns = head.first_ns >= 0 ? head.first_ns : UNKNOWN;
	packed.last_ns = head.last_ns >= 0 ? head.last_ns : UNKNOWN;
	packed.tail_begin_ns = head.tail_begin_ns >= 0 ? head.tail_begin_ns : UNKNOWN;
	packed.elsewhere_ns = head.elsewhere_ns >= 0 ? head.elsewhere_ns : 0;
	if (head.fetches.batches > 0 && head.fetches.count >= 0 && head.fetches.ns >= 0 &&
	    head.fetches.cpu_ns >= 0)
		packed.fetches = head.fetches;
	if (head.totals.receive_ns != UNKNOWN) {
		packed.receive_ns = (double)head.totals.receive_ns;
		packed.receive_count = packed.count;
	}
	*series = packed;
	return 0;
}

int pack_sum_totals(struct db *db, struct load_totals *ret_totals)
{
	ROWS *stmt = NULL;
	struct pack_head head;
	int64_t unpacked;
	int r = 0, count = 0;

	memset(ret_totals, 0, sizeof(*ret_totals));
	if (rows_number(db, UNPACKED_SQL, &unpacked) < 0 || unpacked ||
	    rows_prepare(db, HEADS_SQL, &stmt) < 0)
		return -ENOENT;
	while (r == 0 && rows_next(stmt) == 1) {
		r = pack_read_head(db, sqlite3_column_int64(stmt, 0), &head);
		for (size_t i = 0; r == 0 && i < TOTALS; i++) {
			int64_t *sum = (int64_t *)ret_totals + i;
			int64_t value = ((int64_t *)&head.totals)[i];

			if (value > 0 && __builtin_add_overflow(*sum, value, sum))
				*sum = INT64_MAX;
		}
		count++;
	}
	return r == 0 && count ? 0 : -ENOENT;
}
