/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - reads packs: second copies of a long run's batches, as arrays with 15 to 35 bytes for a
 * batch. pack_write.c writes them.
 *
 * SQLite needs half a microsecond to return a row. With ten million batches, that is most of a
 * report's time. If any row of a loader changes, a trigger deletes the loader's pack.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "analysis/gpu/gpu_use.h"
#include "store/database/db.h"
#include "store/database/run.h"

#define PACK_MAGIC     UINT32_C(0x33637064) /* reads as another number if the byte order differs */
#define PACK_PART      ((size_t)1 << 16)
#define PACK_RUNS      PACK_PART

struct pack_head {
	uint32_t magic;
	uint32_t size;
	int64_t batch_count, epoch_count, time_ns;
	int64_t load_cpu_count;
	double load_cpu_ns;
	int64_t first_ns, last_ns, tail_begin_ns; /* as in batch_series */
	double elsewhere_ns;
	struct series_fetches fetches;
	struct load_totals totals;
	struct gpu_sums gpu;
};

/* Begins each part but the first, which begins with a pack_head. The part's arrays follow. */
struct pack_part {
	uint32_t magic;
	uint32_t count;
	uint32_t columns; /* bit i: the array times[i] of struct series_part follows */
	uint32_t run_count;
};

struct pack_run {
	uint32_t begin;
	int32_t epoch, batch;
};

static inline size_t pack_part_size(const struct pack_part *head)
{
	size_t columns = (size_t)__builtin_popcount(head->columns);

	return sizeof(*head) + head->run_count * sizeof(struct pack_run) +
	       head->count * (columns * sizeof(float) + sizeof(int16_t) + 1);
}

/* Reads the sums over all batches of a loader. -ENOENT: no valid pack, so read the rows. */
int pack_read_head(struct db *db, int64_t loader_id, struct pack_head *ret);

/* Fills an empty series with a loader's batches. -ENOENT: no valid pack, so read the rows. */
int pack_read_series(struct db *db, int64_t loader_id, struct batch_series *series);

/* Adds up the totals of all loaders. -ENOENT: a loader has no valid pack. */
int pack_sum_totals(struct db *db, struct load_totals *ret_totals);
